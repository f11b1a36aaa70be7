//! The senders that live share each channel's quota out among themselves: all of them together stay below it.
//!
//! Each announces itself in the ledger again and again, and is answered who else lives. Its share holds for a term from the
//! moment it asked, which is before the ledger's term began: whoever the others may take for gone has stopped. Who joins
//! others waits for a term, in which all of them have seen it or stopped. See [`Views`] for what a change of the others
//! does.

mod views;

use std::time::Duration;

use night_ledger::{Group, StoreError};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use self::views::Views;
use crate::{Limits, parts::Parts};

/// How long a sender counts as alive after a word of its own: as long as others wait to use what was its share, and as
/// long as the ledger may be away before channels with a quota pause.
pub(crate) const TERM: Duration = Duration::from_secs(5);
/// How often it gives that word.
const BEAT: Duration = Duration::from_millis(1_650);

/// Lets nothing through yet on the channels that have a quota: the first answer of the ledger says how much.
pub(crate) fn wait_for_shares(parts: &Parts) {
    shared(parts).for_each(Limits::rest);
}

/// Announces this sender and gives each channel its share, until `stop`; then leaves. A ledger that is away is asked again
/// at the next beat.
pub(crate) async fn share_out(parts: &Parts, stop: &CancellationToken) {
    let mut views = Views::new(parts.owner, TERM);
    let mut failures = 0u32;
    loop {
        let asked = Instant::now();
        match beat(parts).await {
            Ok(live) => {
                failures = 0;
                parts.metrics.members(live.len());
                views.answered(asked, Instant::now(), live);
            }
            Err(error) => {
                failures = failures.saturating_add(1);
                if failures.is_power_of_two() {
                    tracing::warn!(%error, failures, "the sender could not announce itself; without it, what has a quota pauses");
                }
            }
        }
        shared(parts).for_each(|limits| hand_out(limits, &views));
        let next = views.begins().filter(|at| *at > Instant::now());
        let next = next.map_or(asked + BEAT, |at| at.min(asked + BEAT));
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep_until(next) => {}
        }
    }
    // whoever is not told waits for the term instead
    if let Ok(Err(error)) = timeout(TERM, parts.ledger.leave(Group::Senders, parts.owner)).await {
        tracing::debug!(%error, "the sender could not take its leave; its share is free when its term is over");
    }
}

async fn beat(parts: &Parts) -> Result<Vec<night_ledger::Owner>, StoreError> {
    let asking = parts.ledger.members(Group::Senders, parts.owner, TERM);
    let late = || StoreError::Unavailable("the ledger did not answer in time".into());
    timeout(TERM / 2, asking).await.map_err(|_| late())?
}

/// Gives a channel's limits the share that follows from what was seen.
fn hand_out(limits: &Limits, views: &Views) {
    match views.share(limits.quota(), Instant::now()) {
        Some((share, until)) => limits.allow(&share, until),
        None => limits.rest(),
    }
}

/// The channels of which there is only so much.
fn shared(parts: &Parts) -> impl Iterator<Item = &Limits> {
    parts.lines.values().map(|line| &line.limits).filter(|limits| !limits.quota().is_open())
}

#[cfg(test)]
mod tests;
