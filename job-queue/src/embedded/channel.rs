use std::{collections::BTreeMap, sync::Arc};

use chrono::DateTime;
use tokio::{sync::Notify, time::Instant};

use super::rows::Place;
use crate::Depth;

/// What is known in memory of a channel's messages; the messages themselves are in the file.
#[derive(Default)]
pub(super) struct Channel {
    /// In the order of delivery. A message that comes back takes the place it had, before all later ones.
    ready: BTreeMap<u64, Item>,
    /// By the moment they are due and their sequence.
    delayed: BTreeMap<(Instant, u64), Item>,
    unacked: u64,
    users: u64,
    dead: u64,
    turn: u64,
    wake: Arc<Notify>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) place: Place,
    pub(super) users: u64,
    pub(super) redelivered: bool,
}

/// What a consumer finds.
pub(super) enum Found {
    /// A message, now unacknowledged, and its turn.
    Item(u64, Item),
    /// Nothing is ready; when the first of the ladder is due.
    Nothing(Option<Instant>),
}

impl Channel {
    /// Wakes the consumers that wait for a message or for the ladder.
    pub(super) fn wake(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }

    pub(super) fn ready(&mut self, item: Item, now: Instant) {
        self.promote(now);
        self.users += item.users;
        self.append(item);
        self.wake.notify_waiters();
    }

    pub(super) fn delay(&mut self, item: Item, due: Instant) {
        self.users += item.users;
        self.delayed.insert((due, item.place.sequence()), item);
        // who waits for a later one must look again
        self.wake.notify_waiters();
    }

    pub(super) fn take(&mut self, now: Instant) -> Found {
        self.promote(now);
        match self.ready.pop_first() {
            Some((turn, item)) => {
                self.unacked += 1;
                Found::Item(turn, item)
            }
            None => Found::Nothing(self.delayed.first_key_value().map(|((due, _), _)| *due)),
        }
    }

    pub(super) fn give_back(&mut self, turn: u64, item: Item) {
        self.unacked = self.unacked.saturating_sub(1);
        self.ready.insert(turn, Item { redelivered: true, ..item });
        self.wake.notify_waiters();
    }

    pub(super) fn settle(&mut self, item: Item) {
        self.unacked = self.unacked.saturating_sub(1);
        self.users = self.users.saturating_sub(item.users);
    }

    pub(super) fn buried(&mut self) {
        self.dead += 1;
    }

    pub(super) fn forgotten(&mut self) {
        self.dead = self.dead.saturating_sub(1);
    }

    pub(super) fn depth(&mut self, now: Instant) -> Depth {
        self.promote(now);
        let count = |map: usize| u64::try_from(map).unwrap_or(u64::MAX);
        let oldest = self.ready.first_key_value().map(|(_, item)| item.place.since());
        Depth {
            ready: count(self.ready.len()),
            unacked: Some(self.unacked),
            delayed: count(self.delayed.len()),
            dead: self.dead,
            users: Some(self.users),
            oldest: oldest.and_then(DateTime::from_timestamp_millis),
        }
    }

    /// Moves what is due from the ladder to the queue. Done before each look and each addition, so that turns follow
    /// the times at which messages became ready.
    fn promote(&mut self, now: Instant) {
        while let Some(first) = self.delayed.first_entry()
            && first.key().0 <= now
        {
            let item = first.remove();
            self.append(item);
        }
    }

    fn append(&mut self, item: Item) {
        self.ready.insert(self.turn, item);
        self.turn += 1;
    }
}
