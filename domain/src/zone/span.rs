use jiff::Timestamp;

use super::Zone;

/// A stretch of time in which a zone's offset does not change. All in seconds: instants since 1970 UTC, the offset
/// east of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its first second.
    pub(crate) from: i64,
    /// The second after its last.
    pub(crate) until: i64,
    /// Local time minus UTC.
    pub(crate) offset: i64,
}

impl Zone {
    /// The stretches that make up `[from, until)`, in order and without holes.
    pub(crate) fn spans(self, from: i64, until: i64) -> impl Iterator<Item = Span> {
        let changes = self.rules().following(stamp(from));
        let changes = changes.map(|c| (c.timestamp().as_second(), i64::from(c.offset().seconds())));
        let first = std::iter::once((from, self.offset_at(from)));
        let mut starts = first.chain(changes.take_while(move |&(at, _)| at < until)).peekable();
        std::iter::from_fn(move || {
            let (from, offset) = starts.next()?;
            let until = starts.peek().map_or(until, |&(next, _)| next);
            Some(Span { from, until, offset })
        })
    }

    /// Local time minus UTC at an instant, in seconds.
    pub(super) fn offset_at(self, second: i64) -> i64 {
        i64::from(self.rules().to_offset(stamp(second)).seconds())
    }
}

/// An instant as the zone data takes it; those beyond the years -9999 to 9999 are moved to the nearest it has.
pub(crate) fn stamp(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(if second < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Europe/Berlin in 2026: summer time from 29 March 01:00 UTC to 25 October 01:00 UTC.
    #[test]
    fn a_year_in_berlin_has_three_spans() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let (from, until) = (1_767_225_600, 1_798_761_600);
        let (spring, autumn) = (1_774_746_000, 1_792_890_000);
        let spans: Vec<_> = berlin.spans(from, until).collect();
        assert_eq!(
            spans,
            [
                Span { from, until: spring, offset: 3600 },
                Span { from: spring, until: autumn, offset: 7200 },
                Span { from: autumn, until, offset: 3600 },
            ]
        );
    }

    /// Every quarter of an hour of 2026 and 2027 has the offset its span says.
    #[test]
    fn spans_agree_with_the_offset_of_each_instant() {
        for name in ["Africa/Casablanca", "Australia/Lord_Howe", "America/Nuuk", "Pacific/Chatham", "UTC"] {
            let zone: Zone = name.parse().unwrap();
            let mut next = 1_767_225_600;
            for span in zone.spans(next, next + 730 * 86_400) {
                assert_eq!(span.from, next, "{name}: no holes");
                assert!(
                    (span.from..span.until).step_by(900).all(|at| zone.offset_at(at) == span.offset),
                    "{name}"
                );
                next = span.until;
            }
            assert_eq!(next, 1_767_225_600 + 730 * 86_400, "{name}");
        }
    }
}
