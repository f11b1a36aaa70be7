use std::str::FromStr;

use domain::{ChannelName, Day, Zone};
use plumbing::varint;

use super::{
    MOST_CHANNELS,
    bad::{BadPage, take_bytes, take_up_to},
    body::MOST_USERS,
};
use crate::Moved;

/// The longest name that is read, in bytes; a bound on what rubbish can ask for.
const LONGEST: usize = 64;

/// What the numbers of a page stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// In order of name, each once.
    pub(crate) zones: Vec<Zone>,
    pub(crate) channels: Vec<ChannelName>,
    /// Consent, and the channels as bits.
    pub(crate) kinds: Vec<(bool, u16)>,
}

impl Names {
    /// Appends the three tables.
    pub(super) fn put(&self, to: &mut Vec<u8>) {
        varint::put(to, self.zones.len() as u64);
        let mut before = "";
        for name in self.zones.iter().map(|zone| zone.name()) {
            let shared = name.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
            varint::put(to, shared as u64);
            put_bytes(to, &name.as_bytes()[shared..]);
            before = name;
        }
        varint::put(to, self.channels.len() as u64);
        self.channels.iter().for_each(|channel| put_bytes(to, channel.as_str().as_bytes()));
        varint::put(to, self.kinds.len() as u64);
        for (consent, channels) in &self.kinds {
            varint::put(to, u64::from(*channels) << 1 | u64::from(*consent));
        }
    }

    /// Takes the three tables off the front.
    pub(super) fn take(from: &mut &[u8]) -> Result<Self, BadPage> {
        let mut names = Self::default();
        let mut name = Vec::with_capacity(LONGEST);
        for _ in 0..take_up_to(from, usize::from(u16::MAX), "it has too many zones")? {
            let shared = take_up_to(from, name.len(), "a zone's name shares too much")?;
            name.truncate(shared);
            name.extend_from_slice(take_text(from)?);
            names.zones.push(parse(&name, "a zone is not known here")?);
        }
        for _ in 0..take_up_to(from, MOST_CHANNELS.into(), "it has too many channels")? {
            names.channels.push(parse(take_text(from)?, "a channel's name is not one")?);
        }
        // a row of each kind
        for _ in 0..take_up_to(from, MOST_USERS, "it has too many kinds")? {
            let kind = u32::try_from(varint::take(from)?).unwrap_or(u32::MAX);
            let channels = u16::try_from(kind >> 1).map_err(|_| BadPage::Field("a kind is too large"))?;
            if u32::from(channels) >> names.channels.len() != 0 {
                return Err(BadPage::Field("a kind's channel is not in its table"));
            }
            names.kinds.push((kind & 1 != 0, channels));
        }
        Ok(names)
    }

    pub(crate) fn zone(&self, number: u32) -> Option<Zone> {
        self.zones.get(usize::try_from(number).ok()?).copied()
    }

    pub(crate) fn kind(&self, number: u32) -> Option<(bool, u16)> {
        self.kinds.get(usize::try_from(number).ok()?).copied()
    }

    pub(crate) fn moved(&self, (zone, last): (u32, u32)) -> Option<Moved> {
        Some(Moved { from: self.zone(zone)?, last: Day::from_number(last)? })
    }

    /// The channels that some bits stand for.
    pub(crate) fn channels_of(&self, bits: u16) -> impl Iterator<Item = &ChannelName> {
        self.channels.iter().zip(0..).filter(move |(_, i)| bits >> i & 1 != 0).map(|(channel, _)| channel)
    }
}

fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    varint::put(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

fn take_text<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], BadPage> {
    let length = take_up_to(from, LONGEST, "a name is too long")?;
    take_bytes(from, length)
}

fn parse<T: FromStr>(text: &[u8], wrong: &'static str) -> Result<T, BadPage> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(BadPage::Field(wrong))
}
