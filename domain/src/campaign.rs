use serde::{Deserialize, Serialize};

use crate::{CampaignName, ChannelName, CronLine};

/// A push that goes out once a `Day` at a local hour. Built by the configuration; the parts only read it.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Its name, part of every identity.
    pub name: CampaignName,
    /// The local wall-clock time of each `Day` on which it fires.
    pub line: CronLine,
    /// Seconds over which the pushes of one instant are spread; 0 is "on the dot".
    pub window: u32,
    /// The channels it may use, first choice first.
    pub channels: Vec<ChannelName>,
    /// What happens to a user without steps.
    pub no_steps: NoSteps,
}

/// What a campaign does for a user who has no steps on its `Day`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoSteps {
    /// No push: suppressed.
    #[default]
    Skip,
    /// A push all the same, with 0.
    Send,
}
