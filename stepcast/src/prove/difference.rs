use std::fmt;

use serde::Serialize;

/// What the receipts and the ledger do not agree in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Delivered by the ledger, and nothing was received.
    NotReceived,
    /// Received, and by the ledger nothing can have been.
    Received,
    /// One identity was received more than once, and by the ledger it was pushed once.
    Repeated,
    /// Received, and the user was never due in this night.
    NotDue,
    /// A line that is no receipt.
    Unreadable,
    /// Users are neither delivered nor closed: the night is not over.
    Open,
    /// The sums of the night are not those of its claims, or do not come to what was due.
    Sums,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// Of which kind.
    pub(crate) difference: Kind,
    /// The user, where it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uid: Option<String>,
    /// What there is to say of it.
    pub(crate) detail: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.difference {
            Kind::NotReceived => "not received",
            Kind::Received => "received",
            Kind::Repeated => "repeated",
            Kind::NotDue => "not due",
            Kind::Unreadable => "unreadable",
            Kind::Open => "open",
            Kind::Sums => "sums",
        };
        f.write_str(kind)?;
        if let Some(uid) = &self.uid {
            write!(f, ", user {uid}")?;
        }
        write!(f, ": {}", self.detail)
    }
}
