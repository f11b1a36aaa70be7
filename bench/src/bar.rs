use std::fmt;

/// What a measure must come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
    /// Its value, at most.
    AtMost(f64),
    /// Its value, at least.
    AtLeast(f64),
    /// Its ratio to the baseline, at most.
    RatioAtMost(f64),
    /// Its ratio to the baseline, at least.
    RatioAtLeast(f64),
}

impl Bar {
    /// Whether it holds. What could not be measured does not hold.
    pub(crate) fn holds(self, ours: f64, ratio: Option<f64>) -> bool {
        match self {
            Self::AtMost(bar) => ours <= bar,
            Self::AtLeast(bar) => ours >= bar,
            Self::RatioAtMost(bar) => ratio.is_some_and(|r| r <= bar),
            Self::RatioAtLeast(bar) => ratio.is_some_and(|r| r >= bar),
        }
    }
}

/// `<= 10`, `ratio >= 0.85`.
impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(bar) => write!(f, "<= {}", short(*bar)),
            Self::AtLeast(bar) => write!(f, ">= {}", short(*bar)),
            Self::RatioAtMost(bar) => write!(f, "ratio <= {}", short(*bar)),
            Self::RatioAtLeast(bar) => write!(f, "ratio >= {}", short(*bar)),
        }
    }
}

/// Without the digits that a bound scaled to a size has too many.
fn short(bar: f64) -> f64 {
    (bar * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_holds_no_bar() {
        for bar in [Bar::AtMost(1.0), Bar::AtLeast(1.0), Bar::RatioAtMost(1.0), Bar::RatioAtLeast(1.0)] {
            assert!(bar.holds(1.0, Some(1.0)), "{bar}");
            assert!(!bar.holds(f64::NAN, Some(f64::NAN)), "{bar}");
        }
        assert_eq!(Bar::AtMost(6.0 * 0.1).to_string(), "<= 0.6");
        assert!(!Bar::AtMost(10.0).holds(10.1, None));
        assert!(!Bar::AtLeast(10.0).holds(9.9, None));
        assert!(!Bar::RatioAtLeast(0.5).holds(1.0, None));
    }
}
