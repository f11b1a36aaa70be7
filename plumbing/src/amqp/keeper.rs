use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Mutex as AsyncMutex,
    time::{Instant, sleep_until, timeout},
};

use super::{AmqpError, Backoff, Broker, Link};

/// Keeps one connection at hand, and makes another whenever it is asked for one and the last is lost: for as long as it is
/// asked, with growing waits in between. Several who ask at once wait for the same attempt.
#[derive(Debug)]
pub struct Keeper {
    broker: Arc<Broker>,
    name: String,
    state: AsyncMutex<State>,
    last_error: Mutex<Option<AmqpError>>,
}

#[derive(Debug)]
struct State {
    link: Option<Arc<Link>>,
    backoff: Backoff,
    not_before: Instant,
}

impl Keeper {
    /// A keeper of connections called `name`. None is made before the first is asked for.
    pub fn new(broker: Arc<Broker>, name: impl Into<String>) -> Self {
        let state = State { link: None, backoff: Backoff::default(), not_before: Instant::now() };
        Self { broker, name: name.into(), state: AsyncMutex::new(state), last_error: Mutex::new(None) }
    }

    /// The connection, within `limit`. The error is that of the last attempt.
    pub async fn link(&self, limit: Duration) -> Result<Arc<Link>, AmqpError> {
        match timeout(limit, self.connected()).await {
            Ok(link) => Ok(link),
            Err(_) => {
                let last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let (address, what) = (self.broker.address(), "a connection");
                Err(last.unwrap_or(AmqpError::NoAnswer { address, what, limit }))
            }
        }
    }

    /// The broker.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    async fn connected(&self) -> Arc<Link> {
        let mut state = self.state.lock().await;
        if let Some(link) = state.link.as_ref().filter(|link| link.alive()) {
            return Arc::clone(link);
        }
        state.link = None;
        loop {
            sleep_until(state.not_before).await;
            // counted as a failure until it is none, whether it ends or whoever asked gives up on it
            state.not_before = Instant::now() + state.backoff.wait();
            match Link::open(&self.broker, &self.name).await {
                Ok(link) => {
                    let link = Arc::new(link);
                    *state = State {
                        link: Some(Arc::clone(&link)),
                        backoff: Backoff::default(),
                        not_before: Instant::now() + Backoff::default().wait(),
                    };
                    self.note(None);
                    tracing::info!(broker = self.broker.address(), name = self.name, "connected");
                    return link;
                }
                Err(error) => {
                    tracing::warn!(%error, name = self.name, "no connection; trying again");
                    self.note(Some(error));
                }
            }
        }
    }

    fn note(&self, error: Option<AmqpError>) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}
