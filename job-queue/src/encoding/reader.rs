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

    /// An unsigned LEB128 number in its shortest form.
    pub(super) fn varint(&mut self, what: &'static str) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            let overflows = shift == 63 && bits > 1;
            let padded = byte == 0 && shift > 0;
            if overflows || padded {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed::Number(what))
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        u32::try_from(self.varint(what)?).map_err(|_| Malformed::Number(what))
    }

    /// A zig-zag number.
    pub(super) fn signed(&mut self, what: &'static str) -> Result<i64, Malformed> {
        let zigzag = self.varint(what)?;
        Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    /// A text of at most 255 bytes. What is not UTF-8 becomes U+FFFD, which no name may have.
    pub(super) fn text(&mut self, what: &'static str) -> Result<String, Malformed> {
        let length = usize::from(self.byte(what)?);
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Truncated(what))?;
        self.0 = rest;
        Ok(String::from_utf8_lossy(taken).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint(bytes: &[u8]) -> Result<u64, Malformed> {
        Reader::new(bytes).varint("n")
    }

    #[test]
    fn a_number_has_one_form_and_fits() {
        assert_eq!(varint(&[0]), Ok(0));
        assert_eq!(varint(&[0xe5, 0x8e, 0x26]), Ok(624_485));
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(varint(&most), Ok(u64::MAX));
        assert_eq!(varint(&[0x80, 0]), Err(Malformed::Number("n")));
        assert_eq!(varint(&[0xff; 11]), Err(Malformed::Number("n")));
        assert_eq!(
            varint(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]),
            Err(Malformed::Number("n"))
        );
        assert_eq!(varint(&[0x80]), Err(Malformed::Truncated("n")));
    }

    #[test]
    fn zig_zag_reaches_both_ends() {
        for (byte, value) in [(0, 0), (1, -1), (2, 1), (3, -2)] {
            assert_eq!(Reader::new(&[byte]).signed("n"), Ok(value));
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Reader::new(&most).signed("n"), Ok(i64::MIN));
    }
}
