//! Phones that report what people walk, over HTTP, and a plain recount of what they were told is stored. It knows nothing
//! of the program but its answers.

mod gateway;
mod real_days;
mod recount;

pub use gateway::{Gateway, Turned};
pub use real_days::{MINUTES, RealDay, real_days};
pub use recount::{Answer, Item, Recount, Walked};
