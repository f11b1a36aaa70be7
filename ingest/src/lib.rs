//! What comes in over HTTP: reports of phones and watches, and the people themselves. Beside it stands what the day needs: the
//! freezer, and the publisher of the change feed.

mod answer;
mod api;
mod caller;
mod freezer;
mod gatherer;
mod homes;
mod item;
mod metrics;
mod openapi;
mod parts;
mod people;
mod placing;
mod publisher;
mod reason;
mod reports;
mod settings;
mod steps;
mod throttle;

pub use api::{LISTENING, router};
pub use freezer::{Freezer, freeze};
pub use homes::follow;
pub use metrics::Metrics;
pub use parts::{Edge, Parts};
pub use publisher::{Publisher, publish};
pub use reason::Reason;
pub use settings::Settings;
