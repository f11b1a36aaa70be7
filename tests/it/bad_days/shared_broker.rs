use std::ops::{Deref, DerefMut};

use rig::Broker;
use tokio::sync::{Mutex, MutexGuard};

/// The broker that these tests share, since it takes seconds to boot; they run one after another. It ends with the process.
static BROKER: Mutex<Option<Broker>> = Mutex::const_new(None);

/// The shared broker, or one of the test's own; either way these tests have the machine to themselves.
pub(crate) struct Held {
    lock: MutexGuard<'static, Option<Broker>>,
    own: Option<Broker>,
    /// Whether it is fit for the next test.
    pub(crate) well: bool,
}

/// Waits for the shared broker.
pub(crate) async fn shared() -> Held {
    let mut lock = BROKER.lock().await;
    if lock.is_none() {
        *lock = Some(Broker::start("").await);
    }
    Held { lock, own: None, well: false }
}

/// Waits for the others, and starts a broker with these settings.
pub(crate) async fn own(settings: &str) -> Held {
    let lock = BROKER.lock().await;
    Held { lock, own: Some(Broker::start(settings).await), well: false }
}

impl Deref for Held {
    type Target = Broker;

    fn deref(&self) -> &Broker {
        self.own.as_ref().or(self.lock.as_ref()).expect("one of them is there")
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Broker {
        self.own.as_mut().or(self.lock.as_mut()).expect("one of them is there")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // a test that failed may have left it dead, blocked or full
        if self.own.is_none() && !self.well {
            *self.lock = None;
        }
    }
}
