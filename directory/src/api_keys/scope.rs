use std::{fmt, str::FromStr};

/// What a key is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Reports of anybody, and reading their steps.
    Reports,
    /// People: to make, read, change and erase them.
    Directory,
    /// Boards of anybody, and reading their steps.
    Boards,
    /// The ops API.
    Ops,
}

/// Some scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

/// A text that is no scope.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("scope {0:?}: reports, directory, boards or ops is wanted")]
pub struct UnknownScope(String);

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::Reports, Self::Directory, Self::Boards, Self::Ops];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reports => "reports",
            Self::Directory => "directory",
            Self::Boards => "boards",
            Self::Ops => "ops",
        }
    }

    fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

impl Scopes {
    /// Whether a scope is among them.
    pub fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Those that are there, in order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    pub(super) fn of_bits(bits: u8) -> Option<Self> {
        (bits < 1 << Scope::ALL.len()).then_some(Self(bits))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| UnknownScope(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
