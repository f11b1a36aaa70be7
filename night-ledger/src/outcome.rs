use serde::Serialize;

/// What came of one push, as a sender or scheduler books it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At least one device accepted it.
    Delivered,
    /// Over, without a delivery. With [`Reason::NoAnswer`] it was pushed now.
    Closed(Reason),
    /// To be tried again in a child batch, at the next attempt. `maybe`: the push may have been taken.
    Retry {
        /// Whether the push may have been taken by the provider.
        maybe: bool,
    },
    /// Not worked after all: free again at the same attempt.
    Released,
    /// To be tried on another channel of the campaign, at the next attempt: `due` and `open` move with it.
    Moved {
        /// The channel.
        channel: domain::ChannelName,
    },
}

/// The terms of the night's identity beside `delivered` and `open`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Not pushed, rightly.
    Suppressed,
    /// Published, but not worked before the deadline.
    Expired,
    /// Never published: the scheduler was down.
    Missed,
    /// Stopped by an operator.
    Aborted,
    /// Refused for good, or not to be sent at all.
    Rejected,
    /// Given up after the last attempt.
    Dead,
    /// Sent, no answer known.
    Uncertain,
}

/// Why a push ended without a delivery. The numbers are part of the claim byte and never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Reason {
    /// Opted out after the seal.
    OptedOut = 0,
    /// No device left on any channel of the campaign, before a push was tried.
    NoDevice = 1,
    /// No steps, and the campaign skips those.
    NoSteps = 2,
    /// A move of zone skipped the hour of this `Day`.
    ZoneMoved = 3,
    /// The user is no longer in the directory.
    Gone = 4,
    /// Worked after its deadline.
    Deadline = 5,
    /// Published, and nobody worked it.
    NeverWorked = 6,
    /// The scheduler did not publish it before its deadline.
    NotPublished = 7,
    /// An operator aborted the night.
    Operator = 8,
    /// The provider reported every device gone.
    DeviceGone = 9,
    /// The provider refused the push for good.
    Refused = 10,
    /// The last attempt failed.
    Attempts = 11,
    /// Sent, and no answer came.
    NoAnswer = 12,
    /// The text could not be made.
    Text = 13,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 14] = [
        Self::OptedOut,
        Self::NoDevice,
        Self::NoSteps,
        Self::ZoneMoved,
        Self::Gone,
        Self::Deadline,
        Self::NeverWorked,
        Self::NotPublished,
        Self::Operator,
        Self::DeviceGone,
        Self::Refused,
        Self::Attempts,
        Self::NoAnswer,
        Self::Text,
    ];

    /// The reason with this number in a claim byte.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Its number in a claim byte.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The term of the identity it counts in.
    pub fn class(self) -> Class {
        match self {
            Self::OptedOut | Self::NoDevice | Self::NoSteps | Self::ZoneMoved | Self::Gone => {
                Class::Suppressed
            }
            Self::Deadline | Self::NeverWorked => Class::Expired,
            Self::NotPublished => Class::Missed,
            Self::Operator => Class::Aborted,
            Self::DeviceGone | Self::Refused | Self::Text => Class::Rejected,
            Self::Attempts => Class::Dead,
            Self::NoAnswer => Class::Uncertain,
        }
    }

    /// Its name in figures and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::OptedOut => "opted_out",
            Self::NoDevice => "no_device",
            Self::NoSteps => "no_steps",
            Self::ZoneMoved => "zone_moved",
            Self::Gone => "gone",
            Self::Deadline => "deadline",
            Self::NeverWorked => "never_worked",
            Self::NotPublished => "not_published",
            Self::Operator => "operator",
            Self::DeviceGone => "device_gone",
            Self::Refused => "refused",
            Self::Attempts => "attempts",
            Self::NoAnswer => "no_answer",
            Self::Text => "text",
        }
    }
}

impl Class {
    /// All of them, in the order of the identity.
    pub const ALL: [Class; 7] = [
        Self::Suppressed,
        Self::Expired,
        Self::Missed,
        Self::Aborted,
        Self::Rejected,
        Self::Dead,
        Self::Uncertain,
    ];

    /// Its name in figures and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Suppressed => "suppressed",
            Self::Expired => "expired",
            Self::Missed => "missed",
            Self::Aborted => "aborted",
            Self::Rejected => "rejected",
            Self::Dead => "dead",
            Self::Uncertain => "uncertain",
        }
    }
}
