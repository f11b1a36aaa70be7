//! A change as one line of NDJSON, in files and towards the ops API:
//!
//! ```json
//! {"uid":1001,"zone":"Europe/Berlin","language":"de","region":"main","consent":true,"consent_at":"2026-06-01T08:00:00Z","name":"Ada","devices":[{"channel":"stub","address":"x","registered_at":"2026-06-01T08:00:00Z"}]}
//! {"uid":"1002","deleted":true}
//! ```
//!
//! `uid` is a whole number or the same in decimal digits; `1001.0` and `"01001"` are refused. `zone` is required
//! unless `deleted`. What is absent stays as the record has it; a new user gets `language` `en`, `region` `main`,
//! `consent` true, an empty `name` and no `devices`.
//! Instants are RFC 3339. `null` counts as absent. A field that is not known, or given twice, is refused.

mod fault;
pub(crate) mod object;
mod uid_field;

use std::{fmt, str::FromStr};

use chrono::SecondsFormat;
use domain::{Instant, Uid};
use object::Object;
use serde::{Deserialize, Serialize};

use crate::{Change, NewDevice, NewUser, Refusal};

/// A [`Change`] in its written form, not yet checked. `Debug` shows neither name nor address.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChangeLine {
    /// Who; required.
    #[serde(with = "uid_field", skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// Their zone; required unless `deleted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// A BCP 47 tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Their home data centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Whether they want the push.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<bool>,
    /// When they opted in, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent_at: Option<String>,
    /// What they are called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where a push reaches them.
    #[serde(deserialize_with = "object::objects", skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<DeviceLine>>,
    /// Whether they are to be taken out; the other fields are then not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
}

/// A device in its written form, not yet checked. `Debug` shows no address.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceLine {
    /// The channel; required.
    pub channel: Option<String>,
    /// The address; required.
    pub address: Option<String>,
    /// When it was registered, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_at: Option<String>,
}

/// The change of one line of NDJSON.
pub fn parse_line(line: &[u8]) -> Result<Change, Refusal> {
    let mut from = serde_json::Deserializer::from_slice(line);
    let Object(parsed): Object<ChangeLine> = serde_path_to_error::deserialize(&mut from)
        .map_err(|e| fault::refusal(&e.path().to_string(), e.inner()))?;
    from.end().map_err(|e| fault::refusal(".", &e))?;
    parsed.try_into()
}

/// A change as one line of NDJSON, without the line's end. [`parse_line`] reads it back.
pub fn to_line(change: &Change) -> String {
    // plain numbers, booleans and texts: nothing of it can fail to be written
    serde_json::to_string(&ChangeLine::from(change)).unwrap_or_default()
}

impl TryFrom<ChangeLine> for Change {
    type Error = Refusal;

    fn try_from(line: ChangeLine) -> Result<Self, Refusal> {
        let uid = required("uid", line.uid)?;
        if line.deleted == Some(true) {
            return Ok(Self::Delete(uid));
        }
        let devices = |all: Vec<DeviceLine>| all.into_iter().enumerate().map(|(i, d)| d.check(i)).collect();
        let user = NewUser {
            uid,
            zone: parsed("zone", &required("zone", line.zone)?)?,
            region: line.region.map(|text| parsed("region", &text)).transpose()?,
            language: line.language.map(|text| parsed("language", &text)).transpose()?,
            consent: line.consent,
            consent_at: line.consent_at.map(|text| instant("consent_at", &text)).transpose()?,
            devices: line.devices.map(devices).transpose()?,
            name: line.name,
        };
        user.check()?;
        Ok(Self::Put(user))
    }
}

impl DeviceLine {
    fn check(self, index: usize) -> Result<NewDevice, Refusal> {
        let field = |name: &str| format!("devices[{index}].{name}");
        Ok(NewDevice {
            channel: parsed(&field("channel"), &required(&field("channel"), self.channel)?)?,
            address: required(&field("address"), self.address)?,
            registered_at: self
                .registered_at
                .map(|text| instant(&field("registered_at"), &text))
                .transpose()?,
        })
    }
}

impl From<&Change> for ChangeLine {
    fn from(change: &Change) -> Self {
        match change {
            Change::Delete(uid) => Self { uid: Some(*uid), deleted: Some(true), ..Self::default() },
            Change::Put(user) => Self {
                uid: Some(user.uid),
                zone: Some(user.zone.name().to_owned()),
                language: user.language.as_ref().map(ToString::to_string),
                region: user.region.as_ref().map(ToString::to_string),
                consent: user.consent,
                consent_at: user.consent_at.map(written),
                name: user.name.clone(),
                devices: user.devices.as_ref().map(|all| all.iter().map(DeviceLine::from).collect()),
                deleted: None,
            },
        }
    }
}

impl From<&NewDevice> for DeviceLine {
    fn from(device: &NewDevice) -> Self {
        Self {
            channel: Some(device.channel.to_string()),
            address: Some(device.address.clone()),
            registered_at: device.registered_at.map(written),
        }
    }
}

impl fmt::Debug for ChangeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeLine")
            .field("uid", &self.uid)
            .field("zone", &self.zone)
            .field("deleted", &self.deleted)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for DeviceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceLine").field("channel", &self.channel).finish_non_exhaustive()
    }
}

fn required<T>(field: &str, value: Option<T>) -> Result<T, Refusal> {
    value.ok_or_else(|| Refusal::new(field, "is missing"))
}

fn parsed<T: FromStr<Err: ToString>>(field: &str, text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|e: T::Err| Refusal::new(field, e.to_string()))
}

fn instant(field: &str, text: &str) -> Result<Instant, Refusal> {
    let parsed = chrono::DateTime::parse_from_rfc3339(text);
    parsed.map(|at| at.to_utc()).map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        Refusal::new(field, format!("{shown:?}: an RFC 3339 instant such as 2026-06-07T20:00:00Z is wanted"))
    })
}

fn written(at: Instant) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[cfg(test)]
#[path = "line/tests.rs"]
mod tests;
