use domain::{ChannelName, Instant, Uid, Zone};

use crate::Moved;

pub(crate) mod entry;

/// The most channels an installation may have: the bits of [`RosterRow::channels`].
pub const MOST_CHANNELS: u16 = 32;
/// The most rows a page may have.
pub const MOST_ROWS: usize = 100_000;

/// What a scheduler knows of one user. Every user is listed, those without consent or a device as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RosterRow {
    /// Who.
    pub uid: Uid,
    /// Their zone, once a move has taken hold.
    pub zone: Zone,
    /// Their last move from another zone.
    pub moved: Option<Moved>,
    /// Whether they want the push.
    pub consent: bool,
    /// Since when they do: who opts in after a seal is due the next night.
    pub due_from: Instant,
    /// The channels on which they have a device: bit i stands for the page's `channels[i]`.
    pub channels: u32,
}

/// A part of the roster, in uid order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosterPage {
    /// What the bits of this page's rows stand for, at most [`MOST_CHANNELS`]; another page may number its channels
    /// otherwise.
    pub channels: Vec<ChannelName>,
    /// The rows. Fewer than asked for only at the end of the roster.
    pub rows: Vec<RosterRow>,
}

impl RosterPage {
    /// The bit of a channel in this page's rows; 0 for one on which nobody has a device.
    pub fn bit(&self, channel: &ChannelName) -> u32 {
        let place = self.channels.iter().position(|c| c == channel);
        place.and_then(|i| 1u32.checked_shl(u32::try_from(i).ok()?)).unwrap_or(0)
    }
}
