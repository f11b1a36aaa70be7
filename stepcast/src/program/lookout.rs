use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use sender::Guard;
use tokio_util::sync::CancellationToken;

/// Looks whether the shared stores are set up so that what they answer as stored is stored: a server that was switched
/// to evicting, or that lost its persistence, may forget a claim, and a push would be made twice. So it shuts the sender's guard while something is wrong.
pub(crate) struct Lookout {
    check: Check,
    found: Mutex<Option<Found>>,
    guard: Guard,
}

/// Asks the stores once.
pub(crate) type Check = Box<dyn Fn() -> BoxFuture<'static, Found> + Send + Sync>;

/// What a look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// All is as it should be, but for these warnings.
    Sound(Vec<String>),
    /// No answer: try later.
    Away(String),
    /// Set up so that nothing may be pushed; names the server and the parameter.
    Refused(String),
}

/// The shared stores are set up so that nothing may be pushed: a fault of the configuration.
#[derive(Debug)]
pub(crate) struct RefusedStores(pub(crate) String);

impl fmt::Display for RefusedStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stores: {}", self.0)
    }
}

impl std::error::Error for RefusedStores {}

/// Time between two looks while all is well.
const EVERY: Duration = Duration::from_secs(10);
/// Time between two looks while it is not.
const SOON: Duration = Duration::from_secs(1);
/// The longest a look may take.
const LONGEST: Duration = Duration::from_secs(3);
/// What is wrong before the first look.
const NOT_YET: &str = "the stores were not looked at yet";

impl Lookout {
    /// One that looks by this check, and shuts this guard until the first look is over.
    pub(crate) fn new(check: Check, guard: Guard) -> Self {
        let lookout = Self { check, found: Mutex::new(None), guard };
        lookout.guard.shut(NOT_YET);
        lookout
    }

    /// Looks, opens or shuts the guard, logs what is new, and remembers it.
    pub(crate) async fn look(&self) -> Found {
        let found = tokio::time::timeout(LONGEST, (self.check)()).await;
        let found = found.unwrap_or_else(|_| Found::Away(format!("no answer within {LONGEST:?}")));
        match &found {
            Found::Sound(_) => self.guard.open(),
            Found::Away(fault) | Found::Refused(fault) => self.guard.shut(fault.clone()),
        }
        let before = self.held().replace(found.clone());
        if before.as_ref() != Some(&found) {
            match &found {
                Found::Sound(warnings) => {
                    warnings.iter().for_each(|warning| tracing::warn!("stores: {warning}"));
                    if before.is_some() {
                        tracing::info!("the stores are as they should be again");
                    }
                }
                Found::Away(fault) => {
                    tracing::warn!(%fault, "the stores are away; nothing is pushed meanwhile")
                }
                Found::Refused(fault) => {
                    tracing::error!(%fault, "the stores are not safe as they are set up; nothing is pushed meanwhile");
                }
            }
        }
        found
    }

    /// What is wrong by the last look; before the first one, that there was none.
    pub(crate) fn fault(&self) -> Option<String> {
        match &*self.held() {
            None => Some(NOT_YET.to_owned()),
            Some(Found::Sound(_)) => None,
            Some(Found::Away(fault) | Found::Refused(fault)) => Some(fault.clone()),
        }
    }

    /// Looks again and again until `stop`.
    pub(crate) async fn watch(&self, stop: CancellationToken) {
        loop {
            let wait = if self.fault().is_none() { EVERY } else { SOON };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(wait) => drop(self.look().await),
            }
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;

    use super::*;

    /// A lookout that finds what a test put there, and never ends a look where that is nothing.
    fn lookout() -> (Lookout, Guard, Arc<Mutex<Option<Found>>>) {
        let (guard, next) = (Guard::default(), Arc::new(Mutex::new(None::<Found>)));
        let finds = Arc::clone(&next);
        let check: Check = Box::new(move || {
            let found = finds.lock().unwrap().clone();
            async move {
                match found {
                    Some(found) => found,
                    None => std::future::pending().await,
                }
            }
            .boxed()
        });
        (Lookout::new(check, guard.clone()), guard, next)
    }

    #[tokio::test(start_paused = true)]
    async fn the_guard_is_shut_while_something_is_wrong() {
        let (lookout, guard, next) = lookout();
        assert_eq!((guard.why(), lookout.fault()), (Some(NOT_YET.into()), Some(NOT_YET.into())));
        let sound = Found::Sound(vec!["up to 2 s may be lost".into()]);
        let wrong = "127.0.0.1:6379: maxmemory-policy is allkeys-lru";
        for (found, fault) in [
            (sound.clone(), None),
            (Found::Refused(wrong.into()), Some(wrong)),
            (sound.clone(), None),
            (Found::Away("no route".into()), Some("no route")),
            (sound, None),
        ] {
            *next.lock().unwrap() = Some(found.clone());
            assert_eq!(lookout.look().await, found);
            assert_eq!((guard.why().as_deref(), lookout.fault().as_deref()), (fault, fault));
        }
        *next.lock().unwrap() = None;
        assert!(matches!(lookout.look().await, Found::Away(_)), "a look has an end");
        assert!(guard.is_shut());
    }

    #[tokio::test(start_paused = true)]
    async fn what_goes_wrong_later_is_found_and_what_is_right_again_too() {
        let (lookout, guard, next) = lookout();
        let set = |found| *next.lock().unwrap() = Some(found);
        set(Found::Sound(Vec::new()));
        lookout.look().await;
        let (lookout, stop) = (Arc::new(lookout), CancellationToken::new());
        let (watching, ending) = (Arc::clone(&lookout), stop.clone());
        let task = tokio::spawn(async move { watching.watch(ending).await });
        set(Found::Refused("evicts".into()));
        tokio::time::sleep(EVERY + SOON).await;
        assert_eq!(guard.why().as_deref(), Some("evicts"));
        set(Found::Sound(Vec::new()));
        tokio::time::sleep(SOON * 2).await;
        assert!(!guard.is_shut());
        stop.cancel();
        task.await.unwrap();
    }
}
