use std::time::Duration;

use crate::StoreError;

/// Why something could not be had of the broker. None of the texts holds a secret.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AmqpError {
    /// Settings that no connection can be made with; each fault names its setting.
    #[error("settings of the broker: {}", .0.join("; "))]
    Settings(Vec<String>),
    /// No connection could be made.
    #[error("no connection to the broker at {address}: {detail}")]
    Connect {
        /// Host, port and virtual host.
        address: String,
        /// What went wrong.
        detail: String,
    },
    /// The broker did not answer in time.
    #[error("the broker at {address} did not answer within {limit:?}: {what}")]
    NoAnswer {
        /// Host, port and virtual host.
        address: String,
        /// What was waited for.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The broker blocks publishers, for want of memory or disk.
    #[error("the broker at {address} blocks publishers: {reason}")]
    Blocked {
        /// Host, port and virtual host.
        address: String,
        /// What the broker says of it.
        reason: String,
    },
    /// The broker, or the connection to it, refused.
    #[error("{what}: {error}")]
    Refused {
        /// What was tried.
        what: String,
        /// What came of it.
        error: lapin::Error,
    },
}

impl AmqpError {
    /// Something that was tried and failed.
    pub fn refused(what: impl Into<String>, error: lapin::Error) -> Self {
        Self::Refused { what: what.into(), error }
    }

    /// The AMQP reply code of the refusal, such as 404 or 406, if the broker gave one.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { error, .. } => match error.kind() {
                lapin::ErrorKind::ProtocolError(error) => Some(error.get_id()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl From<AmqpError> for StoreError {
    fn from(error: AmqpError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
