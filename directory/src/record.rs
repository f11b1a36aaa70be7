//! The bytes of a user's record, version 1. The uid is the key and is not repeated.
//!
//! ```text
//! version     u8       1
//! flags       u8       bit 0 consent, bit 1 moved; the others 0
//! zone        text     by name, so that it survives another table of zones
//! from, last  text, n  only if moved: the zone before by name, its last day as the number 20260607
//! region      text
//! language    text
//! name        text
//! consent_at  z        milliseconds since 1970
//! devices     n        how many, then each: channel text, address text, registered_at z
//! ```
//!
//! `n` is an unsigned LEB128 varint, `z` a zigzag varint, `text` its length in bytes (`n`) and its UTF-8. Nothing
//! may follow the last device.

mod bytes;

use std::str::FromStr;

use bytes::{Reader, put_text};
use domain::{Day, Instant, Uid};
use plumbing::varint;

use crate::{
    Device, Moved, User,
    user::{LONGEST_ADDRESS, LONGEST_NAME, MOST_DEVICES},
};

const VERSION: u8 = 1;
const CONSENT: u8 = 1;
const MOVED: u8 = 2;
/// The longest name of a zone, region, channel or language that is read, in bytes; a bound on what garbage can ask.
const LONGEST_WORD: usize = 64;

/// Why bytes are no record.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum RecordError {
    #[error("version {0} is not known here, only version 1")]
    Version(u8),
    #[error("it ends early")]
    Truncated,
    #[error("{0} bytes follow its end")]
    Trailing(usize),
    #[error("{0} is not valid: {1}")]
    Field(&'static str, String),
}

/// The record of `user`.
pub(crate) fn encode(user: &User) -> Vec<u8> {
    let flags = if user.consent { CONSENT } else { 0 } | if user.moved.is_some() { MOVED } else { 0 };
    let mut to = vec![VERSION, flags];
    put_text(&mut to, user.zone.name());
    if let Some(moved) = user.moved {
        put_text(&mut to, moved.from.name());
        varint::put(&mut to, u64::from(moved.last.number()));
    }
    put_text(&mut to, user.region.as_str());
    put_text(&mut to, user.language.as_str());
    put_text(&mut to, &user.name);
    varint::put_signed(&mut to, user.consent_at.timestamp_millis());
    varint::put(&mut to, user.devices.len() as u64);
    for device in &user.devices {
        put_text(&mut to, device.channel.as_str());
        put_text(&mut to, &device.address);
        varint::put_signed(&mut to, device.registered_at.timestamp_millis());
    }
    to
}

/// The user of a record.
pub(crate) fn decode(uid: Uid, record: &[u8]) -> Result<User, RecordError> {
    let mut from = Reader::new(record);
    match from.byte()? {
        VERSION => {}
        other => return Err(RecordError::Version(other)),
    }
    let flags = from.byte()?;
    if flags & !(CONSENT | MOVED) != 0 {
        return Err(RecordError::Field("flags", format!("{flags:#04x}")));
    }
    let zone = word(&mut from, "zone")?;
    let moved = if flags & MOVED == 0 { None } else { Some(decode_moved(&mut from)?) };
    let user = User {
        uid,
        zone,
        moved,
        region: word(&mut from, "region")?,
        language: word(&mut from, "language")?,
        // a character is at most four bytes
        name: from.text("name", 4 * LONGEST_NAME)?.to_owned(),
        consent: flags & CONSENT != 0,
        consent_at: instant(&mut from, "consent_at")?,
        devices: decode_devices(&mut from)?,
    };
    from.end()?;
    Ok(user)
}

fn decode_moved(from: &mut Reader<'_>) -> Result<Moved, RecordError> {
    let zone = word(from, "from")?;
    let number = from.number("last")?;
    let last = u32::try_from(number).ok().and_then(Day::from_number);
    Ok(Moved { from: zone, last: last.ok_or_else(|| RecordError::Field("last", number.to_string()))? })
}

fn decode_devices(from: &mut Reader<'_>) -> Result<Vec<Device>, RecordError> {
    let count = from.number("devices")?;
    if count > MOST_DEVICES as u64 {
        return Err(RecordError::Field("devices", format!("{count} of them")));
    }
    (0..count)
        .map(|_| {
            Ok(Device {
                channel: word(from, "channel")?,
                address: from.text("address", LONGEST_ADDRESS)?.to_owned(),
                registered_at: instant(from, "registered_at")?,
            })
        })
        .collect()
}

fn word<T: FromStr<Err: ToString>>(from: &mut Reader<'_>, field: &'static str) -> Result<T, RecordError> {
    from.text(field, LONGEST_WORD)?.parse().map_err(|e: T::Err| RecordError::Field(field, e.to_string()))
}

fn instant(from: &mut Reader<'_>, field: &'static str) -> Result<Instant, RecordError> {
    let ms = from.signed(field)?;
    Instant::from_timestamp_millis(ms).ok_or_else(|| RecordError::Field(field, format!("{ms} ms")))
}

#[cfg(test)]
#[path = "record/tests.rs"]
mod tests;
