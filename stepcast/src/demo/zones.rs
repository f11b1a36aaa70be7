use domain::Zone;

use super::random::Random;

/// A zone of the demo's population and who lives there.
#[derive(Clone, Copy)]
pub(super) struct Home {
    /// The zone's name.
    zone: &'static str,
    /// Its share of the users, in parts of [`PARTS`].
    parts: u32,
    /// The languages of its users, by frequency.
    languages: &'static [&'static str],
}

/// Round the world from the first 22:00 of a date to the last, with offsets of whole, half and quarter hours; four zones
/// share an instant.
const HOMES: [Home; 13] = [
    home("Pacific/Auckland", 5, &["en"]),
    home("Australia/Adelaide", 5, &["en"]),
    home("Asia/Shanghai", 22, &["zh-Hans"]),
    home("Asia/Taipei", 8, &["zh-Hant"]),
    home("Asia/Hong_Kong", 6, &["zh-Hant", "zh-Hant", "en"]),
    home("Asia/Singapore", 6, &["en", "zh-Hans"]),
    home("Asia/Kathmandu", 4, &["en"]),
    home("Asia/Kolkata", 10, &["en"]),
    home("Europe/Berlin", 9, &["en"]),
    home("Europe/London", 8, &["en"]),
    home("America/St_Johns", 3, &["en"]),
    home("America/New_York", 8, &["en", "en", "en", "zh-Hant"]),
    home("America/Los_Angeles", 6, &["en", "en", "zh-Hans"]),
];

/// What the shares add up to.
const PARTS: u32 = 100;

const fn home(zone: &'static str, parts: u32, languages: &'static [&'static str]) -> Home {
    Home { zone, parts, languages }
}

/// A home drawn by the shares: its zone and a language spoken there.
pub(super) fn draw(random: &mut Random) -> anyhow::Result<(Zone, &'static str)> {
    let mut part = random.below(PARTS);
    let mut drawn = HOMES[0];
    for home in HOMES {
        drawn = home;
        match part.checked_sub(home.parts) {
            Some(rest) => part = rest,
            None => break,
        }
    }
    Ok((drawn.zone.parse()?, random.one_of(drawn.languages)))
}

/// Every zone of the demo.
pub(super) fn all() -> impl Iterator<Item = Zone> {
    HOMES.iter().filter_map(|home| home.zone.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn shares_are_whole_and_every_zone_and_language_is_known() {
        assert_eq!(HOMES.iter().map(|h| h.parts).sum::<u32>(), PARTS);
        for home in HOMES {
            assert!(home.zone.parse::<Zone>().is_ok(), "{}", home.zone);
            assert!(home.languages.iter().all(|l| ["en", "zh-Hans", "zh-Hant"].contains(l)), "{}", home.zone);
        }
    }

    #[test]
    fn draws_follow_the_shares() {
        let mut counts = HashMap::new();
        for uid in 0..20_000 {
            *counts.entry(draw(&mut Random::of_user(uid)).unwrap().0.name()).or_insert(0) += 1;
        }
        for home in HOMES {
            let wanted = i64::from(home.parts) * 200;
            let off = (i64::from(counts[home.zone]) - wanted).abs();
            assert!(off < wanted / 8, "{}: {} of {wanted}", home.zone, counts[home.zone]);
        }
    }
}
