//! A list of numbers of 32 bits whose length is known, in the shorter of two forms:
//!
//! ```text
//! form     u8          0 to 32: packed, so many bits each; 33: sparse; plus 64 if a base follows
//! base     n           what is taken off all numbers; without one, 0
//! packed:              the numbers less the base, as bits
//! sparse:  n           how many differ from the base, then for each: how many equal ones lie before it (n), its number
//!                      less the base less 1 (n)
//! ```

use plumbing::varint;

use super::{
    bad::{BadPage, take_bytes, take_up_to},
    bits::{Bits, pack, packed_bytes, width_of},
};

const SPARSE: u8 = 33;
const BASED: u8 = 64;

/// Appends a list.
pub(super) fn put(to: &mut Vec<u8>, numbers: impl Iterator<Item = u32> + Clone) {
    let base = numbers.clone().min().unwrap_or(0);
    let (mut count, mut differ, mut most, mut sparse, mut equal) = (0, 0u64, 0, Vec::new(), 0u64);
    for above in numbers.clone().map(|number| number - base) {
        count += 1;
        most = most.max(above);
        if above == 0 {
            equal += 1;
        } else {
            differ += 1;
            varint::put(&mut sparse, equal);
            varint::put(&mut sparse, u64::from(above - 1));
            equal = 0;
        }
    }
    let width = width_of(most.into());
    let packed = packed_bytes(count, width) <= sparse.len();
    let form = if packed { width.to_le_bytes()[0] } else { SPARSE };
    if base == 0 {
        to.push(form);
    } else {
        to.push(form | BASED);
        varint::put(to, base.into());
    }
    if packed {
        pack(to, numbers.map(|number| u64::from(number - base)), width);
    } else {
        varint::put(to, differ);
        to.append(&mut sparse);
    }
}

/// Reads a list in turn; past its end it goes on with some number.
#[derive(Clone, Debug)]
pub(super) enum Numbers<'a> {
    Packed { base: u32, bits: Bits<'a> },
    Sparse { base: u32, rest: Sparse<'a> },
}

/// What is left of a sparse list.
#[derive(Clone, Debug)]
pub(super) struct Sparse<'a> {
    /// How many equal ones come before the next that differs.
    equal: usize,
    /// The next that differs, less the base.
    next: u32,
    left: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Takes a list of `count` numbers, none above `most`, off the front. What is wrong in it is found here, not later.
    pub(super) fn take(
        from: &mut &'a [u8],
        count: usize,
        most: u32,
        what: &'static str,
    ) -> Result<Self, BadPage> {
        let form = take_bytes(from, 1)?[0];
        let base = if form & BASED == 0 { 0 } else { varint::take(from)? };
        let base = u32::try_from(base).map_err(|_| BadPage::Field(what))?;
        let room = most.checked_sub(base).ok_or(BadPage::Field(what))?;
        match form & !BASED {
            0..SPARSE => {
                let width = u32::from(form & !BASED);
                let bits = Bits::new(take_bytes(from, packed_bytes(count, width))?, width);
                let fits = width_of(room.into()) > width || {
                    let mut all = bits.clone();
                    (0..count).all(|_| all.next() <= room.into())
                };
                if fits { Ok(Self::Packed { base, bits }) } else { Err(BadPage::Field(what)) }
            }
            SPARSE => Ok(Self::Sparse { base, rest: Sparse::take(from, count, room, what)? }),
            _ => Err(BadPage::Field(what)),
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        match self {
            Self::Packed { base, bits } => base.wrapping_add(u32::try_from(bits.next()).unwrap_or_default()),
            Self::Sparse { base, rest } => base.wrapping_add(rest.next()),
        }
    }
}

impl<'a> Sparse<'a> {
    fn take(from: &mut &'a [u8], count: usize, room: u32, what: &'static str) -> Result<Self, BadPage> {
        let differ = take_up_to(from, count, what)?;
        let start = *from;
        let mut places = count;
        for _ in 0..differ {
            let equal = take_up_to(from, places, what)?;
            places = places.checked_sub(equal + 1).ok_or(BadPage::Field(what))?;
            varint::take(from)?.checked_add(1).filter(|n| *n <= room.into()).ok_or(BadPage::Field(what))?;
        }
        let mut sparse = Self { equal: 0, next: 0, left: &start[..start.len() - from.len()] };
        sparse.step();
        Ok(sparse)
    }

    #[inline]
    fn next(&mut self) -> u32 {
        if self.equal > 0 {
            self.equal -= 1;
            return 0;
        }
        let next = self.next;
        self.step();
        next
    }

    /// Goes to the next that differs.
    fn step(&mut self) {
        let mut take = || {
            let equal = varint::take(&mut self.left).ok()?;
            let less = varint::take(&mut self.left).ok()?;
            Some((usize::try_from(equal).ok()?, u32::try_from(less).ok()?.checked_add(1)?))
        };
        (self.equal, self.next) = take().unwrap_or((usize::MAX, 0));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(numbers: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, numbers.iter().copied());
        bytes
    }

    #[test]
    fn equal_numbers_cost_nothing_and_an_outlier_little() {
        assert_eq!(written(&[]), [0]);
        assert_eq!(written(&[0; 1_000]), [0]);
        assert_eq!(written(&[7; 1_000]), [64, 7]);
        let mut numbers = vec![7; 1_000];
        numbers[300] = 10;
        assert_eq!(written(&numbers), [97, 7, 1, 0xac, 2, 2]);
        assert_eq!(written(&[1, 2, 3, 4]), [66, 1, 0b1110_0100]);
        assert_eq!(written(&[0, 1, 2, 3]), [2, 0b1110_0100]);
    }

    fn list() -> impl Strategy<Value = Vec<u32>> {
        let few = prop::collection::vec(prop_oneof![20 => Just(5u32), 1 => any::<u32>()], 0..300);
        prop_oneof![prop::collection::vec(any::<u32>(), 0..300), few, prop::collection::vec(0u32..9, 0..300)]
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_it_was_written(numbers in list()) {
            let bytes = written(&numbers);
            let mut from = &bytes[..];
            let most = numbers.iter().copied().max().unwrap_or(0);
            let mut list = Numbers::take(&mut from, numbers.len(), most, "it").unwrap();
            prop_assert!(from.is_empty());
            for number in &numbers {
                prop_assert_eq!(list.next(), *number);
            }
            let above = most.checked_sub(1).map(|most| Numbers::take(&mut &bytes[..], numbers.len(), most, "it"));
            prop_assert!(!matches!(above, Some(Ok(_))) || numbers.is_empty());
        }

        #[test]
        fn rubbish_is_refused_or_read_within_its_bound(bytes: Vec<u8>, count in 0usize..400, most: u32) {
            if let Ok(mut list) = Numbers::take(&mut &bytes[..], count, most, "it") {
                prop_assert!((0..count).all(|_| list.next() <= most));
            }
        }
    }
}
