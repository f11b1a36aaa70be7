//! What knows nothing of steps or pushes: the embedded file, the clock, the HTTP shell.

pub mod amqp;
mod clock;
mod file;
pub mod http;
mod redis;
mod span;
mod store_error;
pub mod varint;

pub use self::redis::{
    CheckError, Checked, Command, Durability, EntryKeys, Redis, RedisSettings, Script, redis_slot,
};
pub use clock::Clock;
pub use file::{File, FileError, text_of};
pub use redb;
pub use span::Span;
pub use store_error::StoreError;
