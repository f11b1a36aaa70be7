use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use domain::Instant;

/// The longest wait that is kept of what a provider asks for: every push has met its deadline by then.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads a `Retry-After` (RFC 9110, section 10.2.3): seconds, or an HTTP date in any of its three forms. A date that
/// is past is no wait. `None` when it is neither; more than 24 h is kept as 24 h, and nothing else is shortened.
pub(super) fn parse(value: &str, now: Instant) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // a number too long for 64 bits is still a number, and beyond the longest wait
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)).min(LONGEST));
    }
    let wait = date(value)?.signed_duration_since(now).to_std().unwrap_or_default();
    Some(wait.min(LONGEST))
}

/// An HTTP date (RFC 9110, section 5.6.7); the two obsolete forms must still be read.
fn date(value: &str) -> Option<Instant> {
    if let Ok(date) = DateTime::parse_from_rfc2822(value) {
        return Some(date.to_utc());
    }
    let obsolete = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];
    obsolete
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(value, form).ok())
        .map(|date| date.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Instant {
        "1994-11-06T08:47:37Z".parse().unwrap()
    }

    #[test]
    fn seconds_are_kept_as_asked() {
        for (text, seconds) in [("0", 0), ("120", 120), (" 7200 ", 7200), ("86400", 86_400)] {
            assert_eq!(parse(text, now()), Some(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_their_three_forms() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse(text, now()), Some(Duration::from_secs(120)), "{text}");
        }
        assert_eq!(parse("Sun, 06 Nov 1994 08:00:00 GMT", now()), Some(Duration::ZERO));
    }

    #[test]
    fn a_day_is_the_most() {
        for text in ["86401", "99999999999999999999999", "Tue, 08 Nov 1994 08:47:38 GMT"] {
            assert_eq!(parse(text, now()), Some(LONGEST), "{text}");
        }
    }

    #[test]
    fn anything_else_is_nothing() {
        for text in ["", "-1", "1.5", "soon", "+5", "12s"] {
            assert_eq!(parse(text, now()), None, "{text}");
        }
    }
}
