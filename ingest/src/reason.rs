use step_store::Refusal;

/// Why an item is refused. The names stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, utoipa::ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Reason {
    /// A field is missing or wrong; `field` tells which.
    Malformed,
    /// There is no such user.
    UnknownUser,
    /// The caller's token is another user's.
    NotYours,
    /// An increment has no id, by which a repeat would be known.
    IdMissing,
    /// The event's day is not open yet.
    Future,
    /// The event's day is frozen.
    TooLate,
    /// The day would pass the most steps that it may have.
    TooMany,
    /// The source has given increments and now gives a total, or the other way round.
    MixedKind,
    /// The day has as many sources as it may have.
    TooManySources,
    /// The user has sent as many reports as they may within four days.
    TooManyReports,
    /// What is stored of this user's day cannot be read; operators were told.
    Unreadable,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 11] = [
        Self::Malformed,
        Self::UnknownUser,
        Self::NotYours,
        Self::IdMissing,
        Self::Future,
        Self::TooLate,
        Self::TooMany,
        Self::MixedKind,
        Self::TooManySources,
        Self::TooManyReports,
        Self::Unreadable,
    ];

    /// Its name in an answer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::UnknownUser => "unknown_user",
            Self::NotYours => "not_yours",
            Self::IdMissing => "id_missing",
            Self::Future => "future",
            Self::TooLate => "too_late",
            Self::TooMany => "too_many",
            Self::MixedKind => "mixed_kind",
            Self::TooManySources => "too_many_sources",
            Self::TooManyReports => "too_many_reports",
            Self::Unreadable => "unreadable",
        }
    }
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooLate => Self::TooLate,
            Refusal::TooMany => Self::TooMany,
            Refusal::MixedKind => Self::MixedKind,
            Refusal::TooManySources => Self::TooManySources,
            Refusal::TooManyReports => Self::TooManyReports,
            Refusal::Erased => Self::UnknownUser,
            Refusal::Unreadable => Self::Unreadable,
        }
    }
}
