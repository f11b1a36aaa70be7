//! Boards on demand. What is here so far is what they are made from: the numbers of the days that are open, in memory.

mod column;

pub use column::{Column, Status, follow};
