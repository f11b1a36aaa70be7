use domain::UnknownZoneNumber;
use plumbing::varint::BadVarint;

/// What is wrong with bytes that should be a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPage {
    #[error("version {0} is not known here, only version 2")]
    Version(u8),
    #[error("it ends early")]
    Truncated,
    #[error("{0} bytes follow its end")]
    Trailing(usize),
    #[error(transparent)]
    Zone(#[from] UnknownZoneNumber),
    #[error("{0}")]
    Field(&'static str),
}

impl From<BadVarint> for BadPage {
    fn from(bad: BadVarint) -> Self {
        match bad {
            BadVarint::Truncated => Self::Truncated,
            BadVarint::Form => Self::Field("a varint is not well formed"),
        }
    }
}

/// Takes so many bytes off the front.
pub(super) fn take_bytes<'a>(from: &mut &'a [u8], count: usize) -> Result<&'a [u8], BadPage> {
    let (bytes, left) = from.split_at_checked(count).ok_or(BadPage::Truncated)?;
    *from = left;
    Ok(bytes)
}

/// Takes a number that must not be above `most`.
pub(super) fn take_up_to(from: &mut &[u8], most: usize, field: &'static str) -> Result<usize, BadPage> {
    let number = plumbing::varint::take(from)?;
    usize::try_from(number).ok().filter(|number| *number <= most).ok_or(BadPage::Field(field))
}
