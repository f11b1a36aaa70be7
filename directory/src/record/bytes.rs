use super::RecordError;

/// Writes an unsigned LEB128 varint: seven bits a byte, the lowest first, the top bit set on all but the last.
pub(super) fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    to.push((number & 0x7f) as u8);
}

/// Writes a zigzag varint: 0, -1, 1, -2 become 0, 1, 2, 3.
pub(super) fn put_signed(to: &mut Vec<u8>, number: i64) {
    put_number(to, (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned());
}

/// Writes a text: its length in bytes, then its UTF-8.
pub(super) fn put_text(to: &mut Vec<u8>, text: &str) {
    put_number(to, text.len() as u64);
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

    /// Reads an unsigned varint in its one shortest form.
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, RecordError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let overlong = (byte == 0 && shift > 0) || (bits << shift) >> shift != bits;
            if overlong {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(RecordError::Field(field, "its varint is not well formed".into()))
    }

    /// Reads a zigzag varint.
    pub(super) fn signed(&mut self, field: &'static str) -> Result<i64, RecordError> {
        let number = self.number(field)?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(bytes: &[u8]) -> Result<u64, RecordError> {
        let mut from = Reader::new(bytes);
        from.number("n").and_then(|n| from.end().map(|()| n))
    }

    #[test]
    fn numbers_have_one_form() {
        assert_eq!(number(&[0]), Ok(0));
        assert_eq!(number(&[0x7f]), Ok(127));
        assert_eq!(number(&[0x80, 1]), Ok(128));
        assert_eq!(number(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Ok(u64::MAX));
        assert_eq!(number(&[0x80]), Err(RecordError::Truncated));
        let overlong: [&[u8]; 3] = [
            &[0x80, 0],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0],
        ];
        for bytes in overlong {
            assert!(matches!(number(bytes), Err(RecordError::Field("n", _))), "{bytes:?}");
        }
    }

    #[test]
    fn small_signed_numbers_stay_small() {
        for (signed, byte) in [(0, 0), (-1, 1), (1, 2), (-2, 3)] {
            let mut to = Vec::new();
            put_signed(&mut to, signed);
            assert_eq!(to, [byte]);
        }
    }

    proptest! {
        #[test]
        fn what_is_put_is_read(unsigned: u64, signed: i64, text: String) {
            let mut to = Vec::new();
            put_number(&mut to, unsigned);
            put_signed(&mut to, signed);
            put_text(&mut to, &text);
            let mut from = Reader::new(&to);
            prop_assert_eq!(from.number("n"), Ok(unsigned));
            prop_assert_eq!(from.signed("z"), Ok(signed));
            prop_assert_eq!(from.text("t", text.len()), Ok(text.as_str()));
            prop_assert_eq!(from.end(), Ok(()));
        }
    }
}
