use std::str::FromStr;

use chrono::DateTime;
use directory::{NewDevice, NewUser, Object, Refusal, User, UserPatch, objects};
use domain::{Instant, Uid};
use plumbing::http::ApiError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use utoipa::ToSchema;

/// A user as a back end puts them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserForm {
    zone: String,
    language: Option<String>,
    region: Option<String>,
    consent: Option<bool>,
    consent_at: Option<String>,
    name: Option<String>,
    #[serde(default, deserialize_with = "objects")]
    devices: Option<Vec<DeviceOf>>,
}

/// What is to change of a user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchForm {
    zone: Option<String>,
    language: Option<String>,
    consent: Option<bool>,
    name: Option<String>,
    #[serde(default, deserialize_with = "objects")]
    devices: Option<Vec<DeviceOf>>,
}

/// A device in a user's list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DeviceOf {
    channel: String,
    address: String,
}

/// A device on the channel that the path names.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceForm {
    pub(crate) address: String,
}

/// A user as they are shown.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Shown {
    uid: String,
    #[schema(value_type = String)]
    zone: &'static str,
    region: String,
    language: String,
    consent: bool,
    #[schema(value_type = String, format = DateTime)]
    consent_at: Instant,
    name: String,
    devices: Vec<ShownDevice>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ShownDevice {
    channel: String,
    address: String,
    #[schema(value_type = String, format = DateTime)]
    registered_at: Instant,
}

/// A form from a JSON body; what is wrong is told with its place.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let mut from = serde_json::Deserializer::from_slice(body);
    let Object(form) = serde_path_to_error::deserialize(&mut from).map_err(|why| {
        let place = why.path().to_string();
        let place = if place == "." { "the body".to_owned() } else { place };
        ApiError::bad("bad_json", format!("{place}: {}", why.into_inner()))
    })?;
    from.end().map_err(|why| ApiError::bad("bad_json", format!("the body: {why}")))?;
    Ok(form)
}

impl UserForm {
    pub(crate) fn user(self, uid: Uid) -> Result<NewUser, Refusal> {
        let user = NewUser {
            uid,
            zone: parsed("zone", &self.zone)?,
            region: self.region.map(|text| parsed("region", &text)).transpose()?,
            language: self.language.map(|text| parsed("language", &text)).transpose()?,
            consent: self.consent,
            consent_at: self.consent_at.map(|text| instant(&text)).transpose()?,
            devices: self.devices.map(devices).transpose()?,
            name: self.name,
        };
        user.check()?;
        Ok(user)
    }
}

impl PatchForm {
    pub(crate) fn names_more_than_consent(&self) -> bool {
        self.zone.is_some() || self.language.is_some() || self.name.is_some() || self.devices.is_some()
    }

    pub(crate) fn patch(self, uid: Uid) -> Result<UserPatch, Refusal> {
        Ok(UserPatch {
            zone: self.zone.map(|text| parsed("zone", &text)).transpose()?,
            language: self.language.map(|text| parsed("language", &text)).transpose()?,
            consent: self.consent,
            devices: self.devices.map(devices).transpose()?,
            name: self.name,
            ..UserPatch::of(uid)
        })
    }
}

impl DeviceForm {
    pub(crate) fn device(self, channel: &str) -> Result<NewDevice, Refusal> {
        Ok(NewDevice { channel: parsed("channel", channel)?, address: self.address, registered_at: None })
    }
}

impl Shown {
    pub(crate) fn of(user: &User) -> Self {
        let device = |device: &directory::Device| ShownDevice {
            channel: device.channel.to_string(),
            address: device.address.clone(),
            registered_at: device.registered_at,
        };
        Self {
            uid: user.uid.to_string(),
            zone: user.zone.name(),
            region: user.region.to_string(),
            language: user.language.to_string(),
            consent: user.consent,
            consent_at: user.consent_at,
            name: user.name.clone(),
            devices: user.devices.iter().map(device).collect(),
        }
    }
}

fn devices(all: Vec<DeviceOf>) -> Result<Vec<NewDevice>, Refusal> {
    let device = |(place, device): (usize, DeviceOf)| {
        let channel = parsed(&format!("devices[{place}].channel"), &device.channel)?;
        Ok(NewDevice { channel, address: device.address, registered_at: None })
    };
    all.into_iter().enumerate().map(device).collect()
}

fn parsed<T: FromStr<Err: ToString>>(field: &str, text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|why: T::Err| Refusal { field: field.to_owned(), reason: why.to_string() })
}

fn instant(text: &str) -> Result<Instant, Refusal> {
    DateTime::parse_from_rfc3339(text).map(|at| at.to_utc()).map_err(|_| Refusal {
        field: "consent_at".to_owned(),
        reason: "an RFC 3339 instant such as 2026-06-07T20:00:00Z is wanted".to_owned(),
    })
}
