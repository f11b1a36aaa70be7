//! Batches to pushes: claims, limits, channels, texts, outcomes, retries.

mod brakes;
pub mod channel;
mod children;
mod chunk;
mod consuming;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod lasting;
mod limit;
mod membership;
mod metrics;
mod parts;
mod settings;
mod text;
mod user_push;
mod work;
mod worker;

pub use consuming::Consuming;
pub use guard::Guard;
pub use limit::{Limits, Permit, Wait};
pub use metrics::Metrics;
pub use parts::{Line, Parts};
pub use settings::Settings;
pub use text::{LONGEST_BODY, LONGEST_TITLE, Part, TextError, Texts, Values};
pub use work::{Ended, work};
pub use worker::run;
