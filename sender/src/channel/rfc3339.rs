use chrono::{Datelike, SecondsFormat, Timelike};
use domain::Instant;
use serde::Serializer;

/// Writes an instant as a text in UTC, in whole seconds cut off: `2026-06-07T22:00:00Z`. A push has one, so it is made without
/// the general formatting.
pub(super) fn whole_seconds<S: Serializer>(at: &Instant, to: S) -> Result<S::Ok, S::Error> {
    let mut text = *b"0000-00-00T00:00:00Z";
    let Ok(year @ 0..=9_999) = u32::try_from(at.year()) else {
        return to.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Secs, true));
    };
    let numbers = [year / 100, year % 100, at.month(), at.day(), at.hour(), at.minute(), at.second()];
    for (place, number) in [0, 2, 5, 8, 11, 14, 17].into_iter().zip(numbers) {
        text[place] += digit(number / 10);
        text[place + 1] += digit(number);
    }
    to.serialize_str(std::str::from_utf8(&text).unwrap_or_default())
}

/// The last digit of a number.
fn digit(number: u32) -> u8 {
    (number % 10).to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(at: Instant) -> String {
        let mut bytes = Vec::new();
        whole_seconds(&at, &mut serde_json::Serializer::new(&mut bytes)).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    proptest! {
        #[test]
        fn it_is_what_the_general_formatting_makes(ms in -70_000_000_000_000i64..300_000_000_000_000) {
            let at = Instant::from_timestamp_millis(ms).unwrap();
            prop_assert_eq!(written(at), at.to_rfc3339_opts(SecondsFormat::Secs, true));
        }
    }

    #[test]
    fn the_ends_of_what_is_short_enough_are_right() {
        for text in ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2024-02-29T08:09:00Z"] {
            assert_eq!(written(text.parse().unwrap()), text);
        }
        assert_eq!(written(Instant::MAX_UTC), Instant::MAX_UTC.to_rfc3339_opts(SecondsFormat::Secs, true));
    }
}
