use serde::Serialize;

/// How large a run is against what the bars speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Size {
    /// A tenth.
    Small,
    /// The size named with the bar.
    Medium,
    /// Ten times.
    Large,
}

impl Size {
    /// Its name, as it is given and printed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }

    /// So many of what there are `medium` of.
    pub(crate) fn of(self, medium: u64) -> u64 {
        match self {
            Self::Small => medium / 10,
            Self::Medium => medium,
            Self::Large => medium.saturating_mul(10),
        }
    }

    /// A bound in seconds at this size: it grows with the size, but for the window in it.
    pub(crate) fn bound(self, medium: f64, window: f64) -> f64 {
        let times = match self {
            Self::Small => 0.1,
            Self::Medium => 1.0,
            Self::Large => 10.0,
        };
        window + (medium - window) * times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_scales_without_its_window() {
        assert_eq!(
            [Size::Small, Size::Medium, Size::Large].map(|s| s.of(100_000)),
            [10_000, 100_000, 1_000_000]
        );
        assert_eq!(Size::Medium.bound(10.0, 1.0), 10.0);
        assert_eq!(Size::Large.bound(10.0, 1.0), 91.0);
        assert!((Size::Small.bound(10.0, 1.0) - 1.9).abs() < 1e-9);
    }
}
