use std::str::FromStr;

use domain::{ChannelName, Day, Instant, Language, Region, Uid, Zone};
use plumbing::StoreError;

use super::{CONSENT, MOVED, RecordError, VERSION, bytes::Reader};
use crate::{
    Device, Moved, User,
    user::{LONGEST_ADDRESS, LONGEST_NAME, MOST_DEVICES},
};

/// The longest name of a zone, region, channel or language that is read, in bytes; a bound on what garbage can ask.
const LONGEST_WORD: usize = 64;
/// Names of a kind that are kept for the records that follow.
const MOST_SEEN: usize = 16;

/// Reads records, of many users one after another. Few zones, regions, channels and languages stand in most of them: a name
/// that was in one before is neither checked nor made again.
#[derive(Default)]
pub(crate) struct Decoder {
    zones: Seen<Zone>,
    regions: Seen<Region>,
    languages: Seen<Language>,
    channels: Seen<ChannelName>,
}

/// Names of a kind.
struct Seen<T>(Vec<T>);

impl Decoder {
    /// The user of a record out of a store.
    pub(crate) fn user(&mut self, uid: Uid, record: &[u8]) -> Result<User, StoreError> {
        let corrupt = |e| StoreError::corrupt("a user's record", format!("uid {uid}: {e}"));
        self.decode(uid, record).map_err(corrupt)
    }

    /// The user of a record.
    pub(crate) fn decode(&mut self, uid: Uid, record: &[u8]) -> Result<User, RecordError> {
        let mut from = Reader::new(record);
        match from.byte()? {
            VERSION => {}
            other => return Err(RecordError::Version(other)),
        }
        let flags = from.byte()?;
        if flags & !(CONSENT | MOVED) != 0 {
            return Err(RecordError::Field("flags", format!("{flags:#04x}")));
        }
        let zone = self.zones.take(&mut from, "zone")?;
        let moved = if flags & MOVED == 0 { None } else { Some(self.moved(&mut from)?) };
        let user = User {
            uid,
            zone,
            moved,
            region: self.regions.take(&mut from, "region")?,
            language: self.languages.take(&mut from, "language")?,
            // a character is at most four bytes
            name: from.text("name", 4 * LONGEST_NAME)?.to_owned(),
            consent: flags & CONSENT != 0,
            consent_at: instant(&mut from, "consent_at")?,
            devices: self.devices(&mut from)?,
        };
        from.end()?;
        Ok(user)
    }

    fn moved(&mut self, from: &mut Reader<'_>) -> Result<Moved, RecordError> {
        let zone = self.zones.take(from, "from")?;
        let number = from.number("last")?;
        let last = u32::try_from(number).ok().and_then(Day::from_number);
        Ok(Moved { from: zone, last: last.ok_or_else(|| RecordError::Field("last", number.to_string()))? })
    }

    fn devices(&mut self, from: &mut Reader<'_>) -> Result<Vec<Device>, RecordError> {
        let count = from.number("devices")?;
        if count > MOST_DEVICES as u64 {
            return Err(RecordError::Field("devices", format!("{count} of them")));
        }
        let device = |_| {
            Ok(Device {
                channel: self.channels.take(from, "channel")?,
                address: from.text("address", LONGEST_ADDRESS)?.to_owned(),
                registered_at: instant(from, "registered_at")?,
            })
        };
        (0..count).map(device).collect()
    }
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone + AsRef<str> + FromStr<Err: ToString>> Seen<T> {
    /// Takes a name off the front.
    fn take(&mut self, from: &mut Reader<'_>, field: &'static str) -> Result<T, RecordError> {
        let text = from.text(field, LONGEST_WORD)?;
        if let Some(seen) = self.0.iter().find(|seen| seen.as_ref() == text) {
            return Ok(seen.clone());
        }
        let name: T = text.parse().map_err(|e: T::Err| RecordError::Field(field, e.to_string()))?;
        if self.0.len() < MOST_SEEN {
            self.0.push(name.clone());
        }
        Ok(name)
    }
}

fn instant(from: &mut Reader<'_>, field: &'static str) -> Result<Instant, RecordError> {
    let ms = from.signed(field)?;
    Instant::from_timestamp_millis(ms).ok_or_else(|| RecordError::Field(field, format!("{ms} ms")))
}
