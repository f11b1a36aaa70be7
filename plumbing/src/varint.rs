//! LEB128 varints: seven bits a byte, the lowest first, the top bit set on all but the last; each number has the one
//! shortest form. Signed numbers are zigzag: 0, -1, 1, -2 become 0, 1, 2, 3.

/// Why no varint could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadVarint {
    /// The bytes end inside it.
    Truncated,
    /// It is longer than it need be, or more than 64 bits.
    Form,
}

/// Appends a number.
#[inline]
pub fn put(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    to.push(number.to_le_bytes()[0]);
}

/// Appends a signed number.
pub fn put_signed(to: &mut Vec<u8>, number: i64) {
    put(to, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Takes a number off the front of `from`, which stays as it was on an error.
#[inline]
pub fn take(from: &mut &[u8]) -> Result<u64, BadVarint> {
    let mut number = 0;
    for (place, &byte) in from.iter().enumerate() {
        let bits = u64::from(byte & 0x7f);
        let overflows = place > 9 || (place == 9 && bits > 1);
        let padded = byte == 0 && place > 0;
        if overflows || padded {
            return Err(BadVarint::Form);
        }
        number |= bits << (7 * place);
        if byte < 0x80 {
            *from = &from[place + 1..];
            return Ok(number);
        }
    }
    Err(BadVarint::Truncated)
}

/// Takes a signed number off the front of `from`, which stays as it was on an error.
pub fn take_signed(from: &mut &[u8]) -> Result<i64, BadVarint> {
    let zigzag = take(from)?;
    Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(mut bytes: &[u8]) -> Result<u64, BadVarint> {
        take(&mut bytes)
    }

    #[test]
    fn a_number_has_one_form_and_fits() {
        assert_eq!(one(&[0]), Ok(0));
        assert_eq!(one(&[0x80, 1]), Ok(128));
        assert_eq!(one(&[0xe5, 0x8e, 0x26]), Ok(624_485));
        assert_eq!(one(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Ok(u64::MAX));
        assert_eq!(one(&[]), Err(BadVarint::Truncated));
        assert_eq!(one(&[0x80]), Err(BadVarint::Truncated));
        let bad: [&[u8]; 4] = [
            &[0x80, 0],
            &[0xff; 11],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0],
        ];
        for bytes in bad {
            assert_eq!(one(bytes), Err(BadVarint::Form), "{bytes:?}");
        }
    }

    #[test]
    fn small_signed_numbers_stay_small() {
        for (number, byte) in [(0, 0), (-1, 1), (1, 2), (-2, 3)] {
            let mut to = Vec::new();
            put_signed(&mut to, number);
            assert_eq!(to, [byte]);
        }
    }

    proptest! {
        #[test]
        fn what_is_put_is_taken(numbers: Vec<u64>, signed: i64) {
            let mut to = Vec::new();
            numbers.iter().for_each(|n| put(&mut to, *n));
            put_signed(&mut to, signed);
            let mut from = &to[..];
            for number in numbers {
                prop_assert_eq!(take(&mut from), Ok(number));
            }
            prop_assert_eq!((take_signed(&mut from), from.len()), (Ok(signed), 0));
        }
    }
}
