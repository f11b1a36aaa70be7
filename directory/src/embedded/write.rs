use domain::{ChannelName, Instant, Uid, Zone};
use plumbing::FileError;
use redb::{ReadableTable, Table, WriteTransaction};

use super::{
    CHANNELS, ROSTER, USERS, ZONES,
    names::{Count, Name, Names},
    user_of,
};
use crate::{
    Applied, Change, Refusal, User, record,
    roster::{
        MOST_CHANNELS,
        entry::{self, Entry},
    },
};

/// The directory's tables within one write: records, roster entries and counts are changed here together.
pub(super) struct Tables<'t> {
    users: Table<'t, u64, &'static [u8]>,
    roster: Table<'t, u64, &'static [u8; entry::LENGTH]>,
    zone_rows: Table<'t, u16, Name>,
    channel_rows: Table<'t, u16, Name>,
    zones: Names<Zone>,
    channels: Names<ChannelName>,
}

impl<'t> Tables<'t> {
    pub(super) fn open(to: &'t WriteTransaction) -> Result<Self, FileError> {
        let (zone_rows, channel_rows) = (to.open_table(ZONES)?, to.open_table(CHANNELS)?);
        let zones = Names::load(&zone_rows, "a zone of the directory")?;
        let channels = Names::load(&channel_rows, "a channel of the directory")?;
        let (users, roster) = (to.open_table(USERS)?, to.open_table(ROSTER)?);
        Ok(Self { users, roster, zone_rows, channel_rows, zones, channels })
    }

    /// Writes the counts; without it the rest must not be committed.
    pub(super) fn save(mut self) -> Result<(), FileError> {
        self.zones.save(&mut self.zone_rows, |zone| zone.name())?;
        self.channels.save(&mut self.channel_rows, ChannelName::as_str)
    }

    pub(super) fn apply(&mut self, change: &Change, now: Instant) -> Result<Applied, FileError> {
        match change {
            Change::Put(new) => {
                if let Err(refusal) = new.check() {
                    return Ok(Applied::Refused(refusal));
                }
                let old = self.user(new.uid)?;
                let user = new.over(old.as_ref(), now);
                if old.as_ref() == Some(&user) {
                    return Ok(Applied::Unchanged);
                }
                let done = if old.is_some() { Applied::Updated } else { Applied::Created };
                Ok(self.put(&user)?.map_or_else(Applied::Refused, |()| done))
            }
            Change::Delete(uid) => {
                self.leave(*uid)?;
                self.roster.remove(uid.0)?;
                Ok(if self.users.remove(uid.0)?.is_some() { Applied::Deleted } else { Applied::Absent })
            }
        }
    }

    pub(super) fn drop_device(
        &mut self,
        uid: Uid,
        channel: &ChannelName,
        address: &str,
        gone_at: Instant,
    ) -> Result<bool, FileError> {
        let Some(mut user) = self.user(uid)? else { return Ok(false) };
        let before = user.devices.len();
        user.devices.retain(|device| !device.is(channel, address) || device.registered_at > gone_at);
        if user.devices.len() == before {
            return Ok(false);
        }
        // fewer channels than before: no limit can be in the way
        self.put(&user)?.map_err(|refusal| FileError::entry("a user's record", refusal))?;
        Ok(true)
    }

    fn user(&self, uid: Uid) -> Result<Option<User>, FileError> {
        self.users.get(uid.0)?.map(|found| user_of(uid, found.value())).transpose()
    }

    /// Writes a record and its roster entry, and moves the counts; a refusal leaves everything as it was.
    fn put(&mut self, user: &User) -> Result<Result<(), Refusal>, FileError> {
        let entry = match self.enter(user) {
            Ok(entry) => entry,
            Err(refusal) => return Ok(Err(refusal)),
        };
        self.leave(user.uid)?;
        self.users.insert(user.uid.0, record::encode(user).as_slice())?;
        self.roster.insert(user.uid.0, &entry.encode())?;
        Ok(Ok(()))
    }

    /// Counts a user in, and answers the roster entry.
    fn enter(&mut self, user: &User) -> Result<Entry, Refusal> {
        let channels = self.enter_channels(user)?;
        let mut zone = |zone, count| {
            // cannot be: there are far fewer zones
            let full = || Refusal::new("zone", "the directory holds no more than 65535 zones");
            self.zones.take(&zone, count, u16::MAX).ok_or_else(full)
        };
        Ok(Entry {
            consent: user.consent,
            zone: zone(user.zone, Count::Now)?,
            channels,
            due_from: user.consent_at.timestamp_millis(),
            moved: match user.moved {
                Some(moved) => Some((zone(moved.from, Count::Once)?, moved.last.number())),
                None => None,
            },
        })
    }

    fn enter_channels(&mut self, user: &User) -> Result<u32, Refusal> {
        let mut bits = 0u32;
        for (i, device) in user.devices.iter().enumerate() {
            let known = user.devices[..i].iter().any(|before| before.channel == device.channel);
            if known {
                continue;
            }
            match self.channels.take(&device.channel, Count::Now, MOST_CHANNELS) {
                Some(number) => bits |= 1u32.checked_shl(number.into()).unwrap_or(0),
                None => {
                    self.leave_channels(bits);
                    let reason = format!(
                        "{} would be one more than the {MOST_CHANNELS} channels an installation may have",
                        device.channel
                    );
                    return Err(Refusal::new(format!("devices[{i}].channel"), reason));
                }
            }
        }
        Ok(bits)
    }

    /// Counts a user out, as their roster entry stands.
    fn leave(&mut self, uid: Uid) -> Result<(), FileError> {
        let Some(found) = self.roster.get(uid.0)?.map(|found| Entry::decode(found.value())) else {
            return Ok(());
        };
        let entry = found.ok_or_else(|| FileError::entry("a roster entry", format!("uid {uid}")))?;
        self.zones.leave(entry.zone, Count::Now);
        if let Some((from, _)) = entry.moved {
            self.zones.leave(from, Count::Once);
        }
        self.leave_channels(entry.channels);
        Ok(())
    }

    fn leave_channels(&mut self, bits: u32) {
        (0..32u16)
            .filter(|number| bits & (1 << number) != 0)
            .for_each(|number| self.channels.leave(number, Count::Now));
    }
}
