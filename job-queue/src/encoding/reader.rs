use plumbing::varint::{self, BadVarint};

use super::Malformed;

/// Takes fields off the front of a message; each is named, for the error.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes not yet taken.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    pub(super) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed::Truncated(what))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, Malformed> {
        self.array(what).map(|[byte]| byte)
    }

    /// An unsigned number.
    pub(super) fn varint(&mut self, what: &'static str) -> Result<u64, Malformed> {
        varint::take(&mut self.0).map_err(|bad| malformed(bad, what))
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        u32::try_from(self.varint(what)?).map_err(|_| Malformed::Number(what))
    }

    /// A signed number.
    pub(super) fn signed(&mut self, what: &'static str) -> Result<i64, Malformed> {
        varint::take_signed(&mut self.0).map_err(|bad| malformed(bad, what))
    }

    /// A text of at most 255 bytes. What is not UTF-8 becomes U+FFFD, which no name may have.
    pub(super) fn text(&mut self, what: &'static str) -> Result<String, Malformed> {
        let length = usize::from(self.byte(what)?);
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Truncated(what))?;
        self.0 = rest;
        Ok(String::from_utf8_lossy(taken).into_owned())
    }
}

fn malformed(bad: BadVarint, what: &'static str) -> Malformed {
    match bad {
        BadVarint::Truncated => Malformed::Truncated(what),
        BadVarint::Form => Malformed::Number(what),
    }
}
