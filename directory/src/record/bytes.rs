use plumbing::varint::{self, BadVarint};

use super::RecordError;

/// Writes a text: its length in bytes, then its UTF-8.
pub(super) fn put_text(to: &mut Vec<u8>, text: &str) {
    varint::put(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// Reads from the front of a record.
pub(super) struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    pub(super) fn byte(&mut self) -> Result<u8, RecordError> {
        let (first, left) = self.left.split_first().ok_or(RecordError::Truncated)?;
        self.left = left;
        Ok(*first)
    }

    /// Reads an unsigned number.
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, RecordError> {
        varint::take(&mut self.left).map_err(|bad| unread(bad, field))
    }

    /// Reads a signed number.
    pub(super) fn signed(&mut self, field: &'static str) -> Result<i64, RecordError> {
        varint::take_signed(&mut self.left).map_err(|bad| unread(bad, field))
    }

    /// Reads a text of at most `longest` bytes.
    pub(super) fn text(&mut self, field: &'static str, longest: usize) -> Result<&'a str, RecordError> {
        let length = usize::try_from(self.number(field)?).unwrap_or(usize::MAX);
        if length > longest {
            return Err(RecordError::Field(field, format!("{length} bytes, at most {longest} are allowed")));
        }
        let (text, left) = self.left.split_at_checked(length).ok_or(RecordError::Truncated)?;
        self.left = left;
        std::str::from_utf8(text).map_err(|e| RecordError::Field(field, e.to_string()))
    }

    /// Whether everything was read.
    pub(super) fn end(&self) -> Result<(), RecordError> {
        if self.left.is_empty() { Ok(()) } else { Err(RecordError::Trailing(self.left.len())) }
    }
}

fn unread(bad: BadVarint, field: &'static str) -> RecordError {
    match bad {
        BadVarint::Truncated => RecordError::Truncated,
        BadVarint::Form => RecordError::Field(field, "its varint is not well formed".into()),
    }
}
