use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use chrono::Utc;
use domain::ChannelName;
use plumbing::{File, FileError, redb::WriteTransaction};
use tokio::{sync::Semaphore, time::Instant};

use super::{
    channel::{Channel, Item},
    graves,
    rows::{self, Place},
};
use crate::{StoreError, encoding};

/// Writes under way at a time.
const WRITES: usize = 1_024;
/// The most channels, which are configured by hand.
const MOST_CHANNELS: u64 = 1_024;

type Channels = HashMap<ChannelName, Channel>;

/// What the queue and its consumers and deliveries have in common.
pub(super) struct Shared {
    pub(super) file: Arc<File>,
    channels: Mutex<Channels>,
    writes: Arc<Semaphore>,
    sequence: AtomicU64,
}

impl Shared {
    /// Reads the file. All that is in it may have been delivered before. A wait is at most `longest`, so that a clock
    /// set back does not hold messages for hours.
    pub(super) fn load(file: Arc<File>, longest: Duration) -> Result<Self, StoreError> {
        let (now, now_ms) = (Instant::now(), Utc::now().timestamp_millis());
        let mut channels = Channels::new();
        let mut ready = Vec::new();
        let mut last = 0;
        rows::each(&file, |place, channel, bytes| {
            last = last.max(place.sequence());
            let item = Item { place, users: users(bytes), redelivered: true };
            let wait = match place {
                Place::Queue(..) => 0,
                Place::Ladder(due, _) => u64::try_from(due.saturating_sub(now_ms)).unwrap_or(0),
            };
            if wait == 0 {
                ready.push((channel, item));
            } else {
                let wait = Duration::from_millis(wait).min(longest);
                channels.entry(channel).or_default().delay(item, now + wait);
            }
        })?;
        ready.sort_unstable_by_key(|(_, item)| (item.place.since(), item.place.sequence()));
        for (channel, item) in ready {
            channels.entry(channel).or_default().ready(item, now);
        }
        graves::each(&file, |channel| channels.entry(channel).or_default().buried())?;
        Ok(Self {
            file,
            channels: Mutex::new(channels),
            writes: Arc::new(Semaphore::new(WRITES)),
            sequence: AtomicU64::new(last.saturating_add(1)),
        })
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// A channel, made if it is new.
    pub(super) fn with<T>(
        &self,
        name: &ChannelName,
        act: impl FnOnce(&mut Channel) -> T,
    ) -> Result<T, StoreError> {
        let mut channels = self.lock();
        if let Some(channel) = channels.get_mut(name) {
            return Ok(act(channel));
        }
        if u64::try_from(channels.len()).unwrap_or(u64::MAX) >= MOST_CHANNELS {
            return Err(StoreError::Full { what: "the list of channels", limit: MOST_CHANNELS });
        }
        Ok(act(channels.entry(name.clone()).or_default()))
    }

    /// A channel, if there is one of that name.
    pub(super) fn look<T>(&self, name: &ChannelName, act: impl FnOnce(&mut Channel) -> T) -> Option<T> {
        self.lock().get_mut(name).map(act)
    }

    /// Writes to the file and then, once that is on disk, changes the memory by what the write answered. Both happen in a task of their own, so
    /// that a caller who stops waiting in between leaves the two in agreement.
    pub(super) async fn write<R, W, T>(self: &Arc<Self>, work: W, then: T) -> Result<(), StoreError>
    where
        R: Send + 'static,
        W: FnMut(&WriteTransaction) -> Result<R, FileError> + Send + 'static,
        T: FnOnce(&Shared, R) + Send + 'static,
    {
        let gone = |what: &dyn ToString| StoreError::Unavailable(what.to_string());
        let permit = Arc::clone(&self.writes).acquire_owned().await.map_err(|e| gone(&e))?;
        let shared = Arc::clone(self);
        let task = tokio::spawn(async move {
            let _permit = permit;
            let done = shared.file.write(work).await?;
            then(&shared, done);
            Ok(())
        });
        task.await.map_err(|e| gone(&e))?
    }

    fn lock(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The users of a message; bytes that are no batch have none.
pub(super) fn users(bytes: &[u8]) -> u64 {
    encoding::count(bytes).ok().and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}
