use std::fmt;

use crate::Origin;

/// One thing that is wrong with the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The setting, such as `sender.chunk`; empty where a whole file or its syntax is meant.
    pub setting: String,
    /// What was given, cut where it is long, and never a secret; `None` where nothing was, or where it does not matter.
    pub given: Option<String>,
    /// What is wrong and what is wanted, as a phrase.
    pub wanted: String,
    /// Where the value came from.
    pub origin: Origin,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.setting)?;
        if let Some(given) = &self.given {
            write!(f, " = {given}")?;
        }
        if !self.setting.is_empty() {
            f.write_str(": ")?;
        }
        write!(f, "{} ({})", self.wanted, self.origin)
    }
}

/// Every fault of a configuration, syntax first, then by setting; written one a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
