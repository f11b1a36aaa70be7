/// A small generator of numbers that are the same in every run: SplitMix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014). Not for secrets.
pub(super) struct Random(u64);

/// Where all sequences of the demo begin.
const SEED: u64 = 0x2200;

/// 2^64 divided by the golden ratio, made odd: the step of the sequence.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The sequence of one user: it does not depend on how many others there are.
    pub(super) fn of_user(uid: u64) -> Self {
        // the first number of a neighbouring seed has nothing to do with this one's
        Self(Self(SEED ^ uid.wrapping_mul(GAMMA)).next())
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end` - 1; 0 where `end` is 0.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        // the high half of a product: for ends this small the bias is below one in a million
        let high = ((self.next() >> 32) * u64::from(end)) >> 32;
        u32::try_from(high).unwrap_or_default()
    }

    /// Whether something with so many chances in a hundred happens.
    pub(super) fn percent(&mut self, chances: u32) -> bool {
        self.below(100) < chances
    }

    /// One of `items`.
    pub(super) fn one_of<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let place = self.below(u32::try_from(items.len()).unwrap_or(u32::MAX));
        usize::try_from(place).ok().and_then(|place| items.get(place)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of seed 1234567, as other implementations of the published algorithm give them.
    #[test]
    fn it_is_splitmix64() {
        let mut random = Random(1_234_567);
        let first = [(); 5].map(|()| random.next());
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn draws_are_even_and_within_bounds() {
        let mut random = Random::of_user(1);
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[usize::try_from(random.below(7)).unwrap()] += 1);
        assert!(counts.iter().all(|c| (9_600..10_400).contains(c)), "{counts:?}");
        assert_eq!((random.below(0), random.below(1), random.one_of::<u8>(&[])), (0, 0, 0));
        assert!(!(0..1_000).any(|_| random.percent(0)) && (0..1_000).all(|_| random.percent(100)));
    }

    #[test]
    fn neighbours_have_nothing_in_common() {
        let firsts: std::collections::HashSet<_> =
            (0..10_000).map(|uid| Random::of_user(uid).next()).collect();
        assert_eq!(firsts.len(), 10_000);
        let even = (0..10_000).filter(|&uid| Random::of_user(uid).below(2) == 0).count();
        assert!((4_800..5_200).contains(&even), "{even}");
    }
}
