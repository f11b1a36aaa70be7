//! Where users' days are, in memory: so that a report does not ask the directory.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::{Duration, Instant as RealInstant},
};

use directory::{Column, Directory, Home, StoreError};
use domain::{Instant, Uid};
use tokio_util::sync::CancellationToken;

use crate::Edge;

/// The most users asked for at once.
const ASKED: usize = 10_000;
/// Between two looks at the change log.
const EVERY: Duration = Duration::from_secs(1);
/// How long what is in memory is good without one: then the directory is asked for everybody.
const GOOD_FOR: Duration = Duration::from_secs(10);
/// The most users who were changed here since the last look; beyond them the directory is asked for everybody until the next.
const MOST_CHANGED: usize = 1 << 16;

/// The zone of every user, loaded at the start and then followed by the change log: some bytes a user. Who is not in it is
/// asked for: they may have come a moment ago.
pub(crate) struct Homes {
    directory: Arc<dyn Directory>,
    column: RwLock<Column>,
    followed: Mutex<Followed>,
}

#[derive(Default)]
struct Followed {
    /// How many looks were begun.
    looks: u64,
    /// When the last whole look was begun.
    at: Option<RealInstant>,
    /// Users who were changed here, each with the looks begun before.
    changed: HashMap<Uid, u64>,
}

/// Follows the change log until `stop`.
pub async fn follow(edge: Arc<Edge>, stop: CancellationToken) {
    let mut pause = tokio::time::interval(EVERY);
    loop {
        tokio::select! {
            _ = pause.tick() => {}
            () = stop.cancelled() => return,
        }
        tokio::select! {
            () = stop.cancelled() => return,
            looked = edge.homes.look(edge.parts.clock.now()) => {
                if let Err(error) = looked {
                    tracing::warn!(%error, "the directory's changes could not be read");
                }
            }
        }
    }
}

impl Homes {
    pub(crate) fn new(directory: Arc<dyn Directory>) -> Self {
        Self { directory, column: RwLock::default(), followed: Mutex::default() }
    }

    /// Where these users' days are, in their order; `None` for one that is not in the directory.
    pub(crate) async fn of(&self, uids: &[Uid]) -> Result<Vec<Option<Home>>, StoreError> {
        let mut homes = self.held(uids);
        let mut missing = HashMap::<Uid, Vec<usize>>::new();
        for (place, uid) in uids.iter().enumerate().filter(|(place, _)| homes[*place].is_none()) {
            missing.entry(*uid).or_default().push(place);
        }
        let asked: Vec<_> = missing.keys().copied().collect();
        for asked in asked.chunks(ASKED) {
            for user in self.directory.users(asked).await?.into_iter().flatten() {
                let places = missing.get(&user.uid).into_iter().flatten();
                places.for_each(|place| homes[*place] = Some(user.home()));
            }
        }
        Ok(homes)
    }

    /// Asks the directory for a user who was changed here, until the next look is over.
    pub(crate) fn forget(&self, uid: Uid) {
        let mut followed = self.followed();
        let looks = followed.looks;
        followed.changed.insert(uid, looks);
        if followed.changed.len() > MOST_CHANGED {
            followed.changed.clear();
            followed.at = None;
        }
    }

    /// Takes in what changed.
    pub(crate) async fn look(&self, now: Instant) -> Result<(), StoreError> {
        let (look, at) = {
            let mut followed = self.followed();
            followed.looks += 1;
            // what is read from here on is at least as new as this look
            (followed.looks, RealInstant::now())
        };
        let refreshed = Column::refresh_shared(&self.column, &*self.directory, now).await?;
        if refreshed.unreadable > 0 {
            // their users may be those of before
            return Err(StoreError::corrupt(
                "a part of the directory",
                format!("{} pages", refreshed.unreadable),
            ));
        }
        let mut followed = self.followed();
        followed.changed.retain(|_, before| *before >= look);
        followed.at = Some(at);
        Ok(())
    }

    /// Those who are in memory, and are good.
    fn held(&self, uids: &[Uid]) -> Vec<Option<Home>> {
        let followed = self.followed();
        if followed.at.is_none_or(|at| at.elapsed() >= GOOD_FOR) {
            return vec![None; uids.len()];
        }
        let changed: Vec<_> = uids.iter().map(|uid| followed.changed.contains_key(uid)).collect();
        drop(followed);
        let column = self.column.read().unwrap_or_else(PoisonError::into_inner);
        let home = |(uid, changed): (&Uid, bool)| if changed { None } else { column.user(*uid) };
        uids.iter().zip(changed).map(home).collect()
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
