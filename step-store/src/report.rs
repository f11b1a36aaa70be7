use domain::{Day, Instant, Uid};

use crate::{ReportId, Source};

/// What one source counted for one user's `Day`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The user.
    pub uid: Uid,
    /// The `Day` on which it counts.
    pub day: Day,
    /// Who counted.
    pub source: Source,
    /// How much.
    pub amount: Amount,
    /// By what a repeat is known. An increment without one is added each time it is given.
    pub id: Option<ReportId>,
    /// When `day` freezes for this user: five minutes after its end in their zone. Where this is at or before the
    /// store's watermark, the report is too late.
    pub freezes: Instant,
}

/// Steps, as a source counts them. A source keeps to one way a `Day`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many more.
    Add(u32),
    /// So many since the `Day` began.
    Total(u32),
}

/// What came of a [`Report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// Stored; the number of the user's `Day` now.
    Stored(u32),
    /// Known already, or a total that is not above the one held: nothing was stored. The number of the user's `Day`.
    Repeat(u32),
    /// Not stored, nor is its id.
    Refused(Refusal),
}

/// Why a report is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The `Day` is frozen.
    TooLate,
    /// The number would pass [`MOST_STEPS`](crate::MOST_STEPS).
    TooMany,
    /// The source has given increments for this `Day` and now gives a total, or the other way round.
    MixedKind,
    /// The `Day` has [`MOST_SOURCES`](crate::MOST_SOURCES) others.
    TooManySources,
    /// The user has given 16,384 ids within four days.
    TooManyReports,
    /// The user was erased within the last minute.
    Erased,
    /// What the store has of this user and their neighbours on this `Day` cannot be read.
    Unreadable,
}

impl Report {
    /// What an operator's import says of a user's `Day`: a total under [`Source::import`].
    pub fn imported(uid: Uid, day: Day, total: u32, freezes: Instant) -> Self {
        Self { uid, day, source: Source::import(), amount: Amount::Total(total), id: None, freezes }
    }
}

impl Refusal {
    /// Its name, as callers and operators see it: `too_late`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooLate => "too_late",
            Self::TooMany => "too_many",
            Self::MixedKind => "mixed_kind",
            Self::TooManySources => "too_many_sources",
            Self::TooManyReports => "too_many_reports",
            Self::Erased => "erased",
            Self::Unreadable => "unreadable",
        }
    }
}
