/// The widest number that is packed.
pub(super) const WIDEST: u32 = 56;

/// How many bits a number needs.
pub(super) fn width_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// How many bytes so many numbers of `width` bits take.
pub(super) fn packed_bytes(count: usize, width: u32) -> usize {
    count.saturating_mul(usize::try_from(width).unwrap_or(0)).div_ceil(8)
}

/// Appends numbers of `width` bits each, at most [`WIDEST`], one after another from the lowest bit of the first byte; the
/// last byte is filled up with zeros.
pub(super) fn pack(to: &mut Vec<u8>, numbers: impl Iterator<Item = u64>, width: u32) {
    let (mut held, mut filled) = (0u64, 0u32);
    for number in numbers {
        held |= number << filled;
        filled += width;
        while filled >= 8 {
            to.push(held.to_le_bytes()[0]);
            held >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        to.push(held.to_le_bytes()[0]);
    }
}

/// Reads packed numbers in turn; what lies past the end reads as 0.
#[derive(Clone, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    width: usize,
    mask: u64,
    /// The bit that comes next.
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8], width: u32) -> Self {
        let width = width.min(WIDEST);
        Self { bytes, width: usize::try_from(width).unwrap_or(0), mask: (1 << width) - 1, at: 0 }
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let (byte, bit) = (self.at >> 3, self.at & 7);
        self.at += self.width;
        let tail = self.bytes.get(byte..).unwrap_or_default();
        let word = match tail.first_chunk::<8>() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => {
                let mut chunk = [0; 8];
                chunk[..tail.len()].copy_from_slice(tail);
                u64::from_le_bytes(chunk)
            }
        };
        word >> bit & self.mask
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_is_read(width in 0u32..=WIDEST, numbers: Vec<u64>) {
            let numbers: Vec<_> = numbers.into_iter().map(|n| n & ((1 << width) - 1)).collect();
            let mut bytes = Vec::new();
            pack(&mut bytes, numbers.iter().copied(), width);
            prop_assert_eq!(bytes.len(), packed_bytes(numbers.len(), width));
            let mut bits = Bits::new(&bytes, width);
            for number in numbers {
                prop_assert_eq!(bits.next(), number);
            }
        }
    }
}
