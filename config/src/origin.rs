use std::{fmt, path::Path, sync::Arc};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The defaults that are compiled in.
    Default,
    /// A configuration file.
    File {
        /// The file as it was named.
        path: Arc<Path>,
        /// The line of the setting, from 1; `None` where the whole file is meant.
        line: Option<usize>,
    },
    /// An environment variable, by its name.
    Environment(Arc<str>),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line: Some(line) } => write!(f, "file {}, line {line}", path.display()),
            Self::File { path, line: None } => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
        }
    }
}
