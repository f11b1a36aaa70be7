//! Exit codes of one-shot commands.

use std::process::ExitCode;

/// How a one-shot command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Done, or nothing was due.
    Done,
    /// It failed.
    Failed,
    /// Something was missed.
    Missed,
    /// The configuration has faults (`EX_CONFIG` of sysexits.h).
    Config,
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(match ending {
            Ending::Done => 0,
            Ending::Failed => 1,
            Ending::Missed => 3,
            Ending::Config => 78,
        })
    }
}
