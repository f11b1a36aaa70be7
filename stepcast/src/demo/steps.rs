use super::random::Random;

/// Steps of a day by the share of user-days below them, in thousandths. Log-normal with median 7,000 and sigma 0.55,
/// which is near what published sets of wrist-worn trackers have (median 7,420, p90 15,404, p99 25,633 in one of 4,777
/// user-days); the ends are cut at a lazy day and at a long walk.
const SHARES: [(u32, u32); 11] = [
    (0, 300),
    (10, 1_947),
    (50, 2_833),
    (100, 3_459),
    (250, 4_830),
    (500, 7_000),
    (750, 10_144),
    (900, 14_165),
    (950, 17_297),
    (990, 25_165),
    (1_000, 43_000),
];

/// A plausible number of steps for one day, 300 to 43,000.
pub(super) fn plausible(random: &mut Random) -> u32 {
    let (share, fine) = (random.below(1_000), random.below(1_000));
    let after = SHARES.partition_point(|&(upto, _)| upto <= share).clamp(1, SHARES.len() - 1);
    let ((from, low), (until, high)) = (SHARES[after - 1], SHARES[after]);
    let (part, whole) = ((share - from) * 1_000 + fine, (until - from) * 1_000);
    let above = u64::from(high - low) * u64::from(part) / u64::from(whole);
    low + u32::try_from(above).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_table() {
        let mut random = Random::of_user(7);
        let mut days: Vec<_> = (0..100_000).map(|_| plausible(&mut random)).collect();
        days.sort_unstable();
        assert!(days[0] >= 300 && days[99_999] <= 43_000);
        for (thousandths, wanted) in [(50, 2_833), (250, 4_830), (500, 7_000), (750, 10_144), (900, 14_165)] {
            let found = days[thousandths * 100];
            assert!(found.abs_diff(wanted) < wanted / 25, "{thousandths}: {found}, {wanted} is wanted");
        }
    }

    /// exp(ln 7000 + 0.55 z) for the z of each share, from a table of the normal distribution.
    #[test]
    fn the_table_is_log_normal() {
        let z = [(10, -2.3263), (50, -1.6449), (100, -1.2816), (250, -0.6745), (500, 0.0), (750, 0.6745)];
        let z = z.into_iter().chain([(900, 1.2816), (950, 1.6449), (990, 2.3263)]);
        for (share, z) in z {
            let wanted = (7_000f64.ln() + 0.55 * z).exp();
            let found = SHARES.iter().find(|(s, _)| *s == share).unwrap().1;
            assert!((f64::from(found) - wanted).abs() < 15.0, "{share}: {found}, {wanted}");
        }
    }
}
