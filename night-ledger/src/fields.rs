//! Reads and writes the fields of this crate's encodings.

use std::str::FromStr;

use domain::Instant;
use plumbing::{
    StoreError,
    varint::{self, BadVarint},
};

pub(crate) fn put_text(to: &mut Vec<u8>, text: &str) {
    varint::put(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// Reads an entry of kind `what`; each fault is a [`StoreError::Corrupt`] of that kind.
pub(crate) struct Reader<'a> {
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(what: &'static str, rest: &'a [u8]) -> Self {
        Self { what, rest }
    }

    pub(crate) fn bad(&self, detail: &str) -> StoreError {
        StoreError::corrupt(self.what, detail)
    }

    pub(crate) fn done(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> Result<u8, StoreError> {
        let (&first, rest) = self.rest.split_first().ok_or_else(|| self.bad("it ends early"))?;
        self.rest = rest;
        Ok(first)
    }

    pub(crate) fn number(&mut self) -> Result<u64, StoreError> {
        varint::take(&mut self.rest).map_err(|bad| self.bad_number(bad))
    }

    pub(crate) fn signed(&mut self) -> Result<i64, StoreError> {
        varint::take_signed(&mut self.rest).map_err(|bad| self.bad_number(bad))
    }

    pub(crate) fn small(&mut self) -> Result<u32, StoreError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.bad("a number is too large"))
    }

    /// A count of at most `most`.
    pub(crate) fn count(&mut self, most: usize) -> Result<usize, StoreError> {
        let number = self.number()?;
        match usize::try_from(number) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(self.bad("a count is too large")),
        }
    }

    /// What has its length before it.
    pub(crate) fn part(&mut self) -> Result<Self, StoreError> {
        let length = self.count(self.rest.len())?;
        let parts = self.rest.split_at_checked(length);
        let (part, rest) = parts.ok_or_else(|| self.bad("it ends early"))?;
        self.rest = rest;
        Ok(Self { what: self.what, rest: part })
    }

    pub(crate) fn parsed<T: FromStr>(&mut self) -> Result<T, StoreError> {
        let text = self.part()?.rest;
        let parsed = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
        parsed.ok_or_else(|| self.bad("a name is unknown"))
    }

    pub(crate) fn instant(&mut self) -> Result<Instant, StoreError> {
        let seconds = self.number()?;
        crate::seal::instant(seconds).ok_or_else(|| self.bad("an instant is out of range"))
    }

    fn bad_number(&self, bad: BadVarint) -> StoreError {
        self.bad(match bad {
            BadVarint::Truncated => "it ends early",
            BadVarint::Form => "a number is not well formed",
        })
    }
}
