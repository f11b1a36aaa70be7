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
mod decoder;

use bytes::put_text;
use plumbing::varint;

pub(crate) use self::decoder::Decoder;
use crate::User;

const VERSION: u8 = 1;
const CONSENT: u8 = 1;
const MOVED: u8 = 2;

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

#[cfg(test)]
#[path = "record/tests.rs"]
mod tests;
