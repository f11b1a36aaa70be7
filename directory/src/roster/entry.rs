//! The bytes of a roster entry, version 1: 21 of them for every user, so that a scan of a million reads 30 MB.
//! Numbers are little-endian; zones and channels are ids of the file's own small tables.
//!
//! ```text
//! 0       u8   bits 4 to 7 the version, 1; bit 0 consent, bit 1 moved
//! 1..3    u16  zone
//! 3..7    u32  channels: bit i is the channel with id i
//! 7..15   i64  due_from, milliseconds since 1970
//! 15..17  u16  if moved, the zone before; else 0
//! 17..21  u32  if moved, its last day as the number 20260607; else 0
//! ```

/// How long an entry is.
pub(crate) const LENGTH: usize = 21;

const VERSION: u8 = 1;
const CONSENT: u8 = 1;
const MOVED: u8 = 2;

/// A roster row as the file holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) consent: bool,
    pub(crate) zone: u16,
    pub(crate) channels: u32,
    pub(crate) due_from: i64,
    /// The id of the zone before, and its last day as a number.
    pub(crate) moved: Option<(u16, u32)>,
}

impl Entry {
    /// The entry's bytes.
    pub(crate) fn encode(&self) -> [u8; LENGTH] {
        let flags = if self.consent { CONSENT } else { 0 } | if self.moved.is_some() { MOVED } else { 0 };
        let (from, last) = self.moved.unwrap_or_default();
        let mut to = [0; LENGTH];
        to[0] = VERSION << 4 | flags;
        to[1..3].copy_from_slice(&self.zone.to_le_bytes());
        to[3..7].copy_from_slice(&self.channels.to_le_bytes());
        to[7..15].copy_from_slice(&self.due_from.to_le_bytes());
        to[15..17].copy_from_slice(&from.to_le_bytes());
        to[17..21].copy_from_slice(&last.to_le_bytes());
        to
    }

    /// The entry of some bytes; `None` where they are of another version.
    pub(crate) fn decode(bytes: &[u8; LENGTH]) -> Option<Self> {
        let [head, z0, z1, c0, c1, c2, c3, due @ .., f0, f1, l0, l1, l2, l3] = *bytes;
        let flags = head & 0x0f;
        if head >> 4 != VERSION || flags & !(CONSENT | MOVED) != 0 {
            return None;
        }
        let moved = (u16::from_le_bytes([f0, f1]), u32::from_le_bytes([l0, l1, l2, l3]));
        Some(Self {
            consent: flags & CONSENT != 0,
            zone: u16::from_le_bytes([z0, z1]),
            channels: u32::from_le_bytes([c0, c1, c2, c3]),
            due_from: i64::from_le_bytes(due),
            moved: (flags & MOVED != 0).then_some(moved),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 20260607 is 0x0135_26ff.
    const GOLDEN: [u8; LENGTH] =
        [0x13, 2, 1, 5, 0, 0, 0x80, 0xe8, 3, 0, 0, 0, 0, 0, 0, 4, 3, 0xff, 0x26, 0x35, 0x01];

    #[test]
    fn the_bytes_are_fixed() {
        let entry = Entry {
            consent: true,
            zone: 0x0102,
            channels: 0x8000_0005,
            due_from: 1_000,
            moved: Some((0x0304, 20_260_607)),
        };
        assert_eq!(entry.encode(), GOLDEN);
        assert_eq!(Entry::decode(&GOLDEN), Some(entry));
    }

    #[test]
    fn another_version_or_flag_is_not_read() {
        for head in [0x03, 0x23, 0x17, 0xff] {
            let mut bytes = GOLDEN;
            bytes[0] = head;
            assert_eq!(Entry::decode(&bytes), None, "{head:#x}");
        }
    }

    proptest! {
        #[test]
        fn an_entry_is_read_as_it_was_written(
            consent: bool, zone: u16, channels: u32, due_from: i64, moved: Option<(u16, u32)>)
        {
            let entry = Entry { consent, zone, channels, due_from, moved };
            prop_assert_eq!(Entry::decode(&entry.encode()), Some(entry));
        }
    }
}
