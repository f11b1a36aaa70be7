use domain::{ChannelName, Day, Zone};
use plumbing::varint;

use super::{
    MOST_CHANNELS,
    bad::{BadPage, take_bytes, take_up_to},
    body::MOST_USERS,
};
use crate::Moved;

/// The longest name of a channel that is read, in bytes; a bound on what rubbish can ask for.
const LONGEST: usize = 64;

/// What the numbers of a page stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// In order of their numbers, each once.
    pub(crate) zones: Vec<Zone>,
    pub(crate) channels: Vec<ChannelName>,
    /// Consent, and the channels as bits.
    pub(crate) kinds: Vec<(bool, u16)>,
}

impl Names {
    /// Appends the three tables.
    pub(super) fn put(&self, to: &mut Vec<u8>) {
        varint::put(to, self.zones.len() as u64);
        let mut end = 0;
        for number in self.zones.iter().map(|zone| zone.number()) {
            varint::put(to, u64::from(number.saturating_sub(end)));
            end = number.saturating_add(1);
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
        let mut end = 0u32;
        for _ in 0..take_up_to(from, usize::from(u16::MAX), "it has too many zones")? {
            let number =
                u32::try_from(varint::take(from)?).ok().and_then(|distance| end.checked_add(distance));
            let number = number.ok_or(BadPage::Field("a zone's number is too large"))?;
            names.zones.push(Zone::of_number(number)?);
            end = number.saturating_add(1);
        }
        for _ in 0..take_up_to(from, MOST_CHANNELS.into(), "it has too many channels")? {
            names.channels.push(take_channel(from)?);
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

fn take_channel(from: &mut &[u8]) -> Result<ChannelName, BadPage> {
    let length = take_up_to(from, LONGEST, "a channel's name is too long")?;
    let name = std::str::from_utf8(take_bytes(from, length)?).ok();
    name.and_then(|name| name.parse().ok()).ok_or(BadPage::Field("a channel's name is not one"))
}
