//! The transport of the change feed: what one part of the step store posted, to everybody who listens.
//!
//! It promises little: who does not listen hears nothing, and one that is slow or cut off loses some. The numbers of the postings
//! tell what is missing, and the step store has it.

mod embedded;
mod message;
mod rabbitmq;

use async_trait::async_trait;

pub use self::{
    embedded::EmbeddedFeed,
    message::{FeedMessage, MOST_MESSAGE, MOST_POSTINGS},
    rabbitmq::RabbitFeed,
};
use crate::StoreError;

/// The port of the feed's transport.
#[async_trait]
pub trait Feed: Send + Sync {
    /// Hands messages to all that listen, those of one part in order; answers when the engine has them. After an error any of
    /// them may be on their way.
    async fn publish(&self, messages: &[FeedMessage]) -> Result<(), StoreError>;

    /// Listens from now on.
    async fn subscribe(&self) -> Result<Box<dyn Subscription>, StoreError>;
}

/// One who listens.
#[async_trait]
pub trait Subscription: Send {
    /// The next message; waits for one. After an error it is over: messages were lost, and another has to be made.
    async fn next(&mut self) -> Result<FeedMessage, StoreError>;
}
