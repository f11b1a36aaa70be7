//! The senders that live share each channel's quota out among themselves: all of them together stay below it.
//!
//! Each announces itself in the ledger again and again, and is answered who else lives. Its share holds for a term from the
//! moment it asked, which is before the ledger's term began: whoever the others may take for gone has stopped. Who joins
//! others waits for a term, in which all of them have seen it or stopped, and where pushes in flight count for as long
//! again as one may take. See [`Views`] for what a change of the others does. Who cannot reach its queues leaves its share
//! to the others, see [`reach`].

pub(crate) mod reach;
mod views;

use std::time::Duration;

use night_ledger::{Group, StoreError};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use self::views::{Counted, Views};
use crate::{
    Limits,
    parts::{Line, Parts},
};

/// How long a sender counts as alive after a word of its own: as long as others wait to use what was its share, and as
/// long as the ledger may be away before channels with a quota pause.
pub(crate) const TERM: Duration = Duration::from_secs(5);
/// How often it gives that word.
const BEAT: Duration = Duration::from_millis(1_650);

/// Lets nothing through yet on the channels that have a quota: the first answer of the ledger says how much.
pub(crate) fn wait_for_shares(parts: &Parts) {
    rest(parts);
}

/// Announces this sender and gives each channel its share, until `stop`; then leaves. A ledger that is away is asked again
/// at the next beat. While no queue is in reach it has left, see [`reach`].
pub(crate) async fn share_out(parts: &Parts, stop: &CancellationToken) {
    let mut member = Member::new(parts);
    loop {
        let asked = Instant::now();
        if reach::lost_all(parts) {
            member.step_out().await;
        } else {
            member.step_in(asked).await;
        }
        let next = member.next().map_or(asked + BEAT, |at| at.min(asked + BEAT));
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep_until(next) => {}
        }
    }
    leave(parts).await;
}

/// This sender among the others.
struct Member<'a> {
    parts: &'a Parts,
    views: Views,
    failures: u32,
    /// Whether it took its leave since it was announced last.
    out: bool,
}

impl<'a> Member<'a> {
    fn new(parts: &'a Parts) -> Self {
        Self { parts, views: unseen(parts), failures: 0, out: false }
    }

    /// Announces it, and gives each channel its share.
    async fn step_in(&mut self, asked: Instant) {
        if self.out {
            tracing::info!("a queue is in reach again; the sender has its share again soon");
            self.out = false;
        }
        match beat(self.parts).await {
            Ok(live) => {
                self.failures = 0;
                self.parts.metrics.members(live.len());
                self.views.answered(asked, Instant::now(), live);
            }
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                if self.failures.is_power_of_two() {
                    tracing::warn!(%error, failures = self.failures, "the sender could not announce itself; without it, what has a quota pauses");
                }
            }
        }
        shared(self.parts).for_each(|line| hand_out(&line.limits, line.channel.longest(), &self.views));
    }

    /// Lets nothing through any more, then leaves the others its share. It joins anew when it comes back.
    async fn step_out(&mut self) {
        if !self.out {
            tracing::warn!(
                "no queue is in reach; until one is, the sender's share of the quotas is with the others"
            );
            self.out = true;
            rest(self.parts);
            self.views = unseen(self.parts);
            self.parts.metrics.members(0);
            leave(self.parts).await;
        }
    }

    /// When the next channel begins that waits for it.
    fn next(&self) -> Option<Instant> {
        let begins = shared(self.parts)
            .filter_map(|line| self.views.begins(counted(&line.limits, line.channel.longest())));
        begins.filter(|at| *at > Instant::now()).min()
    }
}

fn unseen(parts: &Parts) -> Views {
    let times = shared(parts).map(|line| counted(&line.limits, line.channel.longest()).time());
    Views::new(parts.owner, TERM, times.max().unwrap_or_default()).exclusive(parts.ledger.exclusive())
}

async fn leave(parts: &Parts) {
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

/// Gives a channel's limits, one push of which takes at most `longest`, the share that follows from what was seen.
fn hand_out(limits: &Limits, longest: Duration, views: &Views) {
    match views.share(counted(limits, longest), Instant::now()) {
        Some((share, until)) => limits.allow(&share, until),
        None => limits.rest(),
    }
}

fn counted(limits: &Limits, longest: Duration) -> Counted<'_> {
    Counted { quota: limits.quota(), push: longest }
}

fn rest(parts: &Parts) {
    shared(parts).for_each(|line| line.limits.rest());
}

/// The channels of which there is only so much.
fn shared(parts: &Parts) -> impl Iterator<Item = &Line> {
    parts.lines.values().filter(|line| !line.limits.quota().is_open())
}

#[cfg(test)]
mod tests;
