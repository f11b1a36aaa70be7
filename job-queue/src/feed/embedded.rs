use async_trait::async_trait;
use tokio::sync::broadcast::{self, error::RecvError};

use super::{Feed, FeedMessage, Subscription};
use crate::StoreError;

/// Messages that one who listens may be behind by.
const MOST_BEHIND: usize = 1_024;

/// The feed within one process, where all that listen are. Nothing of it is kept: who starts reads the step store.
pub struct EmbeddedFeed(broadcast::Sender<FeedMessage>);

struct Listening(broadcast::Receiver<FeedMessage>);

impl EmbeddedFeed {
    /// One to which nobody listens yet.
    pub fn new() -> Self {
        Self(broadcast::Sender::new(MOST_BEHIND))
    }
}

impl Default for EmbeddedFeed {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Feed for EmbeddedFeed {
    async fn publish(&self, messages: &[FeedMessage]) -> Result<(), StoreError> {
        for message in messages {
            // an error says that nobody listens
            let _ = self.0.send(message.clone());
        }
        Ok(())
    }

    async fn subscribe(&self) -> Result<Box<dyn Subscription>, StoreError> {
        Ok(Box::new(Listening(self.0.subscribe())))
    }
}

#[async_trait]
impl Subscription for Listening {
    async fn next(&mut self) -> Result<FeedMessage, StoreError> {
        self.0.recv().await.map_err(|error| {
            let why = match error {
                RecvError::Closed => "the feed has ended".to_owned(),
                RecvError::Lagged(count) => {
                    format!("{count} messages of the feed were lost: it was too slow")
                }
            };
            StoreError::Unavailable(why)
        })
    }
}
