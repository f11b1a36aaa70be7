use std::fmt::Display;

use super::Redis;

/// Keys of many entries that differ by two numbers, `{prefix}:{region}:{<group>.<part>}:<stem><number>`, one after another
/// in one piece of memory: a night makes one for every user.
pub struct EntryKeys {
    /// Up to the part.
    front: String,
    /// Between the part and the number.
    middle: String,
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Redis {
    /// Room for `count` keys of a group, such as `s`, with a stem, such as `steps:20260607:`. The group holds no brace.
    pub fn entry_keys(&self, group: impl Display, stem: impl Display, count: usize) -> EntryKeys {
        let front = format!("{}:{{{group}.", self.0.front);
        let middle = format!("}}:{stem}");
        // digits of a part, and those of most numbers
        let bytes = Vec::with_capacity((front.len() + 2 + middle.len() + 10) * count);
        EntryKeys { front, middle, bytes, ends: Vec::with_capacity(count) }
    }
}

impl EntryKeys {
    /// One more.
    pub fn push(&mut self, part: u64, number: u64) {
        let mut digits = itoa::Buffer::new();
        self.bytes.extend_from_slice(self.front.as_bytes());
        self.bytes.extend_from_slice(digits.format(part).as_bytes());
        self.bytes.extend_from_slice(self.middle.as_bytes());
        self.bytes.extend_from_slice(digits.format(number).as_bytes());
        self.ends.push(self.bytes.len());
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// All of them, in the order in which they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedisSettings;

    #[test]
    fn they_are_made_as_single_keys_are() {
        let settings = RedisSettings::at(vec!["redis://127.0.0.1:1".into()], "app");
        let redis = Redis::new(&settings).unwrap();
        let mut keys = redis.entry_keys("s", "steps:20260607:", 2);
        assert_eq!((keys.len(), keys.iter().next()), (0, None));
        for (part, number) in [(3, 1_001), (63, u64::MAX), (0, 0)] {
            keys.push(part, number);
            let wanted = redis.key(format_args!("s.{part}"), format_args!("steps:20260607:{number}"));
            assert_eq!(keys.iter().last(), Some(wanted.as_bytes()));
        }
        assert_eq!(keys.len(), 3);
    }
}
