//! Where a uid stands. Blocks of 256 neighbouring uids stay together; which page a block is in is told by multiplicative
//! hashing, so that dense uids, multiples of a power of two and numbers with a clock in their upper bits (snowflakes) all
//! spread over the pages alike:
//!
//! ```text
//! mixed = (uid >> 8) * 0x9e3779b97f4a7d  mod 2^56     one to one, as the factor is odd; it is 2^56 / golden ratio
//! page  = mixed >> 40                                  16 bits
//! key   = (mixed mod 2^40) << 8 | uid mod 2^8          48 bits: the place within the page
//! ```

use domain::Uid;

/// How many pages there are.
pub(crate) const PAGES: u32 = 1 << 16;
/// How many bits a key has.
pub(crate) const KEY_BITS: u32 = 48;

const MIXED: u64 = (1 << 56) - 1;
const KEY_BLOCK: u64 = (1 << 40) - 1;
const FACTOR: u64 = 0x009e_3779_b97f_4a7d;
const INVERSE: u64 = inverse(FACTOR);

/// The page of a uid.
#[inline]
pub(crate) fn page_of(uid: Uid) -> u32 {
    u32::try_from(mix(uid) >> 40).unwrap_or_default()
}

/// The place of a uid within its page.
pub(crate) fn key_of(uid: Uid) -> u64 {
    (mix(uid) & KEY_BLOCK) << 8 | uid.0 & 0xff
}

/// The uid at a place of a page.
#[inline]
pub(crate) fn uid_at(page: u32, key: u64) -> Uid {
    let mixed = u64::from(page) << 40 | key >> 8 & KEY_BLOCK;
    Uid((mixed.wrapping_mul(INVERSE) & MIXED) << 8 | key & 0xff)
}

#[inline]
fn mix(uid: Uid) -> u64 {
    (uid.0 >> 8).wrapping_mul(FACTOR) & MIXED
}

/// The inverse of an odd number modulo 2^64, and so modulo 2^56, by Newton's iteration: each step doubles the bits that
/// are right, and three are from the start.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut step = 0;
    while step < 5 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        step += 1;
    }
    x
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_places_are_fixed() {
        assert_eq!((page_of(Uid(0)), key_of(Uid(0))), (0, 0));
        assert_eq!((page_of(Uid(255)), key_of(Uid(255))), (0, 255));
        assert_eq!((page_of(Uid(256)), key_of(Uid(257))), (0x9e37, 0x79b9_7f4a_7d01));
        assert_eq!((page_of(Uid(u64::MAX)), key_of(Uid(u64::MAX))), (0x61c8, 0x8646_80b5_83ff));
    }

    /// How many uids the fullest page has.
    fn fullest(uids: impl Iterator<Item = u64>) -> u32 {
        let mut pages = vec![0u32; usize::try_from(PAGES).unwrap()];
        uids.for_each(|uid| pages[usize::try_from(page_of(Uid(uid))).unwrap()] += 1);
        pages.into_iter().max().unwrap()
    }

    #[test]
    fn no_common_form_of_uids_crowds_a_page() {
        assert!(fullest(0..65_536 * 256) <= 512, "dense");
        for shift in [8, 12, 16, 22, 24, 32, 40, 44] {
            // a mean of 4
            let fullest = fullest((0..262_144).map(|n| n << shift));
            assert!(fullest <= 40, "steps of 2^{shift}: {fullest}");
        }
        // milliseconds above 22 bits, of which 10 are the worker and 12 a counter that is mostly 0
        let snowflake = |n: u64| (1_700_000_000_000 + n * 7) << 22 | (n % 4) << 12 | (n % 2);
        let fullest = fullest((0..262_144).map(snowflake));
        assert!(fullest <= 40, "snowflakes: {fullest}");
    }

    proptest! {
        #[test]
        fn a_place_is_of_one_uid(uid: u64) {
            let uid = Uid(uid);
            prop_assert!(page_of(uid) < PAGES && key_of(uid) < 1 << KEY_BITS);
            prop_assert_eq!(uid_at(page_of(uid), key_of(uid)), uid);
        }
    }
}
