//! Where users' days are, at hand: so that a report does not ask the directory. What is held follows the directory's change log.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant as RealInstant},
};

use directory::{Directory, Home, PARTS, Page, Position, StoreError};
use domain::Uid;
use tokio_util::sync::CancellationToken;

use crate::Edge;

/// The most users held: some 40 MB.
const MOST: usize = 1 << 20;
/// The most users asked for at once.
const ASKED: usize = 10_000;
/// Between two looks at the change log.
const EVERY: Duration = Duration::from_secs(1);
/// How long what is held is good without one: then the directory is asked for everybody.
const GOOD_FOR: Duration = Duration::from_secs(10);

/// Users at hand.
pub(crate) struct Homes {
    directory: Arc<dyn Directory>,
    parts: Vec<Mutex<Held>>,
    followed: Mutex<Followed>,
}

/// Users of one part of the directory, by their pages.
#[derive(Default)]
struct Held {
    pages: HashMap<u32, HashMap<Uid, Home>>,
    users: usize,
    /// Rises with each change that was heard of: what was read before is not put in after.
    changes: u64,
}

#[derive(Default)]
struct Followed {
    positions: Vec<Position>,
    at: Option<RealInstant>,
}

/// Follows the change log until `stop`.
pub async fn follow(edge: Arc<Edge>, stop: CancellationToken) {
    let mut pause = tokio::time::interval(EVERY);
    loop {
        tokio::select! {
            _ = pause.tick() => {}
            () = stop.cancelled() => return,
        }
        if let Err(error) = edge.homes.look().await {
            tracing::warn!(%error, "the directory's changes could not be read");
        }
    }
}

impl Homes {
    pub(crate) fn new(directory: Arc<dyn Directory>) -> Self {
        let parts = (0..PARTS).map(|_| Mutex::default()).collect();
        Self { directory, parts, followed: Mutex::default() }
    }

    /// Where these users' days are, in their order; `None` for one that is not in the directory.
    pub(crate) async fn of(&self, uids: &[Uid]) -> Result<Vec<Option<Home>>, StoreError> {
        let good = self.followed().at.is_some_and(|at| at.elapsed() < GOOD_FOR);
        let mut homes = vec![None; uids.len()];
        let mut missing = HashMap::<Uid, (u64, Vec<usize>)>::new();
        for (place, uid) in uids.iter().enumerate() {
            let page = Page::number_of(*uid);
            let held = self.part(page);
            match held.pages.get(&page).and_then(|users| users.get(uid)).filter(|_| good) {
                Some(home) => homes[place] = Some(*home),
                None => missing.entry(*uid).or_insert_with(|| (held.changes, Vec::new())).1.push(place),
            }
        }
        let asked: Vec<_> = missing.keys().copied().collect();
        for asked in asked.chunks(ASKED) {
            for (uid, user) in asked.iter().zip(self.directory.users(asked).await?) {
                let (Some(user), Some((changes, places))) = (user, missing.get(uid)) else { continue };
                self.hold(*uid, user.home(), *changes);
                places.iter().for_each(|place| homes[*place] = Some(user.home()));
            }
        }
        Ok(homes)
    }

    /// Forgets a user at once, as one who was changed here.
    pub(crate) fn forget(&self, uid: Uid) {
        let page = Page::number_of(uid);
        let mut held = self.part(page);
        held.changes += 1;
        held.drop_page(page);
    }

    /// Looks at what changed, and forgets that.
    pub(crate) async fn look(&self) -> Result<(), StoreError> {
        let positions = self.followed().positions.clone();
        // what is read from here on is at least as new as this look
        let at = RealInstant::now();
        let changed = self.directory.changed(&positions).await?;
        for (part, changed) in self.parts.iter().zip(&changed) {
            let mut held = part.lock().unwrap_or_else(PoisonError::into_inner);
            if changed.whole {
                *held = Held { changes: held.changes + 1, ..Held::default() };
            } else if !changed.pages.is_empty() {
                held.changes += 1;
                changed.pages.iter().for_each(|page| held.drop_page(*page));
            }
        }
        *self.followed() = Followed { positions: changed.iter().map(|c| c.upto).collect(), at: Some(at) };
        Ok(())
    }

    fn hold(&self, uid: Uid, home: Home, changes: u64) {
        let page = Page::number_of(uid);
        let mut held = self.part(page);
        if held.changes != changes {
            return;
        }
        if held.users >= MOST / self.parts.len() {
            *held = Held { changes: held.changes, ..Held::default() };
        }
        if held.pages.entry(page).or_default().insert(uid, home).is_none() {
            held.users += 1;
        }
    }

    fn part(&self, page: u32) -> MutexGuard<'_, Held> {
        let part = usize::try_from(page % PARTS).unwrap_or(0);
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn drop_page(&mut self, page: u32) {
        self.users -= self.pages.remove(&page).map_or(0, |users| users.len());
    }
}
