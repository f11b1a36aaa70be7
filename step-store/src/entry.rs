use crate::Source;

/// What the store has of one user's `Day`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Each source that reported, in the order of their first reports; at most [`MOST_SOURCES`](crate::MOST_SOURCES).
    pub sources: Vec<SourceTotal>,
}

/// What one source reported for a `Day`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTotal {
    /// Who counted.
    pub source: Source,
    /// How it counts.
    pub kind: Kind,
    /// Its steps, at most [`MOST_STEPS`](crate::MOST_STEPS).
    pub total: u32,
    /// Whether one report raised it by more than 20,000.
    pub jumped: bool,
}

/// How a source counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// By increments.
    Increments,
    /// By totals since the `Day` began.
    Totals,
}

/// The number of one of many users, as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The steps; 0 where there is no entry.
    Steps(u32),
    /// What the store has cannot be read. It concerns this user and their neighbours alone.
    Unreadable,
}

impl Kind {
    /// Its name: `totals`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Increments => "increments",
            Self::Totals => "totals",
        }
    }
}

impl Entry {
    /// The number of the `Day`: that of the largest source, since a phone and a watch saw the same walk (spec).
    pub fn number(&self) -> u32 {
        self.sources.iter().map(|source| source.total).max().unwrap_or(0)
    }
}
