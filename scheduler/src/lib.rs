//! When and for whom: seals ahead of the hour, publishes each slot at its second, closes nights.

mod agenda;
mod first_error;
mod held_back;
mod metrics;
mod once;
mod plan;
mod roster;
mod run;
mod settings;
mod shards;
mod tick;

pub use metrics::Metrics;
pub use once::{Once, once};
pub use roster::seals_of;
pub use run::run;
pub use settings::Settings;
pub use tick::{Scheduler, Ticked};
