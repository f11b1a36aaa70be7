use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant as RealInstant},
};

use futures_util::future::try_join_all;
use job_queue::{Feed, Subscription};
use step_store::{PARTS, StepStore, StoreError};
use tokio_util::sync::CancellationToken;

use super::{
    Column,
    days::Days,
    part::{Part, Taken},
    state::{Compared, State},
};

/// Between two comparisons with the store.
const COMPARE: Duration = Duration::from_millis(500);
/// Wait after a fault.
const FAULT: Duration = Duration::from_millis(500);
/// How often a part is read again at once because the store changed hands meanwhile.
const MOST_READINGS: usize = 5;

/// Keeps a column until `stop`.
pub async fn follow(
    column: Arc<Column>,
    steps: Arc<dyn StepStore>,
    feed: Arc<dyn Feed>,
    stop: CancellationToken,
) {
    let following = Following { column: &column, steps: &*steps };
    loop {
        let ended = tokio::select! {
            ended = following.listen(&*feed) => ended,
            () = stop.cancelled() => return,
        };
        if let Err(error) = ended {
            tracing::warn!(%error, "the change feed is listened to anew");
        }
        tokio::select! {
            () = tokio::time::sleep(FAULT) => {}
            () = stop.cancelled() => return,
        }
    }
}

struct Following<'a> {
    column: &'a Column,
    steps: &'a dyn StepStore,
}

impl Following<'_> {
    /// Listens until something is lost. It listens first and compares then: what changes in between is heard.
    async fn listen(&self, feed: &dyn Feed) -> Result<(), StoreError> {
        let mut subscription = feed.subscribe().await?;
        self.compare().await?;
        let mut pause = tokio::time::interval(COMPARE);
        pause.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                heard = self.hear(&mut *subscription) => heard?,
                _ = pause.tick() => self.compare().await?,
            }
        }
    }

    async fn hear(&self, subscription: &mut dyn Subscription) -> Result<(), StoreError> {
        let message = subscription.next().await?;
        if message.part >= PARTS {
            return Err(StoreError::corrupt(
                "a message of the change feed",
                format!("there is no part {}", message.part),
            ));
        }
        let taken = self.column.part(message.part).take(&message, RealInstant::now());
        match taken {
            Taken::In => Ok(()),
            Taken::Astray => self.read(message.part).await,
        }
    }

    /// Holds every part against the store, and reads those that went astray.
    async fn compare(&self) -> Result<(), StoreError> {
        let at = RealInstant::now();
        // all at once: what is heard waits meanwhile
        let positions = try_join_all((0..PARTS).map(|part| self.steps.position(part))).await?;
        for (part, position) in (0..PARTS).zip(positions) {
            let compared = self.column.part(part).state.compare(position, RealInstant::now());
            if compared == Compared::Astray {
                self.read(part).await?;
            }
        }
        *self.column.compared.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
        Ok(())
    }

    /// Reads a part from the store, as of the position before the reading: what is posted meanwhile is heard again, and holds the
    /// whole number.
    async fn read(&self, part: u32) -> Result<(), StoreError> {
        // until it is read it says that it lacks something
        self.column.part(part).state = State::default();
        for _ in 0..MOST_READINGS {
            let before = self.steps.position(part).await?;
            let mut days = Days::default();
            for day in Days::wanted(&self.steps.days(part).await?) {
                let mut from = None;
                loop {
                    let piece = self.steps.totals(part, *day, from).await?;
                    piece.totals.into_iter().for_each(|(uid, steps)| days.set(*day, uid, Some(steps)));
                    match piece.next {
                        Some(next) => from = Some(next),
                        None => break,
                    }
                }
            }
            if self.steps.position(part).await?.lineage == before.lineage {
                *self.column.part(part) = Part { days, state: State::read(before) };
                return Ok(());
            }
        }
        Err(StoreError::Unavailable("the step store changes hands again and again".to_owned()))
    }
}
