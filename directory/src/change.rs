mod check;
mod over;
mod patch;

use std::fmt;

use domain::{ChannelName, Instant, Language, Region, Uid, Zone};

/// One change to the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Makes the user's record, or changes it.
    Put(NewUser),
    /// Takes the user out of the directory.
    Delete(Uid),
}

/// A user as a caller hands them over: what is `None` stays as the record has it, so that an import without a column of
/// consents opts nobody in again. `Debug` shows no name.
#[derive(Clone, PartialEq, Eq)]
pub struct NewUser {
    /// Who.
    pub uid: Uid,
    /// Their zone. Another one than before is a move: it holds from the next day start of the old zone.
    pub zone: Zone,
    /// Their home data centre; `main` for a new user without one.
    pub region: Option<Region>,
    /// The language of their texts; `en` for a new user without one.
    pub language: Option<Language>,
    /// Whether they want the push; a new user does unless told otherwise.
    pub consent: Option<bool>,
    /// When they opted in. Without one: the record's own while consent stands, else now.
    pub consent_at: Option<Instant>,
    /// Where a push reaches them: all devices, those not named are dropped. One named twice counts once.
    pub devices: Option<Vec<NewDevice>>,
    /// What they are called; may be empty.
    pub name: Option<String>,
}

/// What is to change of a user who is there; what is `None` stays. It is worked out on the record as it stands at the moment of
/// the write, so that two at once lose nothing. `Debug` shows no name.
#[derive(Clone, PartialEq, Eq)]
pub struct UserPatch {
    /// Who.
    pub uid: Uid,
    /// Their zone, see [`NewUser::zone`].
    pub zone: Option<Zone>,
    /// The language of their texts.
    pub language: Option<Language>,
    /// Whether they want the push.
    pub consent: Option<bool>,
    /// Where a push reaches them: all devices.
    pub devices: Option<Vec<NewDevice>>,
    /// One device more, or one that is registered again.
    pub device: Option<NewDevice>,
    /// What they are called; may be empty.
    pub name: Option<String>,
}

/// A device as a caller hands it over. `Debug` shows no address.
#[derive(Clone, PartialEq, Eq)]
pub struct NewDevice {
    /// The channel.
    pub channel: ChannelName,
    /// The address as the channel's provider knows it.
    pub address: String,
    /// When it was registered. Without one, or with one before the record's own: the record's own; if new, now.
    pub registered_at: Option<Instant>,
}

/// What came of a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The user was new.
    Created,
    /// The record was changed.
    Updated,
    /// The record was so already; nothing was written.
    Unchanged,
    /// The user was taken out.
    Deleted,
    /// The user to take out was not there.
    Absent,
    /// The change is past a limit; nothing of it was written.
    Refused(Refusal),
}

/// Why a row or a change was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Refusal {
    /// The field at fault, such as `zone` or `devices[2].address`.
    pub field: String,
    /// What is wrong with it. Shows neither a name nor an address.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

impl fmt::Debug for NewUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewUser")
            .field("uid", &self.uid)
            .field("zone", &self.zone)
            .field("region", &self.region)
            .field("language", &self.language)
            .field("consent", &self.consent)
            .field("consent_at", &self.consent_at)
            .field("devices", &self.devices)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for UserPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserPatch")
            .field("uid", &self.uid)
            .field("zone", &self.zone)
            .field("language", &self.language)
            .field("consent", &self.consent)
            .field("devices", &self.devices)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for NewDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewDevice")
            .field("channel", &self.channel)
            .field("registered_at", &self.registered_at)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "change/tests.rs"]
mod tests;
