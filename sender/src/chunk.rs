//! One chunk of a batch: its users' records and steps are read while it is claimed, then everybody claimed is pushed to.

use std::{panic::AssertUnwindSafe, time::Duration};

use directory::User;
use domain::{Campaign, ChannelName, Instant, NoSteps, Uid, Zone};
use futures_util::{FutureExt, StreamExt, future, stream::FuturesUnordered};
use job_queue::{Batch, BatchEntry};
use night_ledger::{Brake, Brakes, Claim, Done, Outcome, Reason, StoreError};
use step_store::Read;

use crate::{
    parts::{Line, Parts, backoff, jittered},
    user_push::{Gone, Pushed, push_user},
};

/// What a push needs to know of a user.
pub(crate) struct Looked {
    user: Option<User>,
    steps: Read,
}

/// Reads what the pushes to these users need, in their order. Records and steps are asked for at once.
pub(crate) async fn look_up(
    parts: &Parts,
    batch: &Batch,
    entries: &[BatchEntry],
) -> Result<Vec<Looked>, StoreError> {
    let uids: Vec<Uid> = entries.iter().map(|entry| entry.uid).collect();
    let (users, steps) =
        future::try_join(parts.directory.users(&uids), parts.steps.read_many(&uids, batch.day)).await?;
    Ok(users.into_iter().zip(steps).map(|(user, steps)| Looked { user, steps }).collect())
}

/// A claimed user of a chunk.
#[derive(Clone, Copy)]
pub(crate) struct Claimed<'a> {
    pub(crate) entry: &'a BatchEntry,
    pub(crate) claim: Claim,
}

/// What came of a user, and where a retry goes.
pub(crate) struct Worked {
    pub(crate) done: Done,
    pub(crate) next: Option<Next>,
    /// The user's devices that may be dropped when this is booked.
    pub(crate) gone: Vec<Gone>,
}

/// The next try of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) channel: ChannelName,
    pub(crate) wait: Duration,
}

/// Pushes to the claimed users of a chunk, each as looked up, and answers what came of each, by rising position.
pub(crate) async fn push_chunk(
    parts: &Parts,
    line: &Line,
    batch: &Batch,
    claimed: &[(Claimed<'_>, Looked)],
    brakes: &Brakes,
    now: Instant,
) -> Vec<Worked> {
    let Some((campaign, texts)) = parts.campaigns.get(&batch.campaign) else { return Vec::new() };
    let mut pushing: FuturesUnordered<_> = claimed
        .iter()
        .map(|(claimed, Looked { user, steps })| async move {
            let (claimed, steps) = (*claimed, *steps);
            let push = async {
                if brakes.on(zone_of(batch, claimed.entry)) == Some(Brake::Aborted) {
                    return (Pushed::Closed(Reason::Operator), Vec::new());
                }
                if now >= batch.deadline(claimed.entry) {
                    return (Pushed::Closed(Reason::Deadline), Vec::new());
                }
                let user = match user {
                    None => return (Pushed::Closed(Reason::Gone), Vec::new()),
                    Some(user) if !user.consent => return (Pushed::Closed(Reason::OptedOut), Vec::new()),
                    Some(user) => user,
                };
                let Read::Steps(steps) = steps else {
                    let uid = user.uid;
                    tracing::error!(campaign = %batch.campaign, %uid, "the steps cannot be read: no text can be made");
                    return (Pushed::Closed(Reason::Text), Vec::new());
                };
                if steps == 0 && campaign.no_steps == NoSteps::Skip {
                    return (Pushed::Closed(Reason::NoSteps), Vec::new());
                }
                push_user(parts, line, campaign, texts, batch, claimed.entry, user, steps).await
            };
            // a panic is a failed attempt of this user and nobody else's; how far it got is not known
            let pushed = AssertUnwindSafe(push).catch_unwind().await;
            let (pushed, gone) = pushed.unwrap_or((Pushed::Failed { after: None, maybe: true }, Vec::new()));
            let worked = worked(parts, line, batch, campaign, claimed, pushed, now);
            match worked.done.outcome {
                // what comes again, be it by a replay, names the devices by their order: it finds all of them
                Outcome::Retry { .. } | Outcome::Released | Outcome::Closed(Reason::Attempts) => worked,
                Outcome::Delivered | Outcome::Closed(_) | Outcome::Moved { .. } => Worked { gone, ..worked },
            }
        })
        .collect();
    let mut all = Vec::with_capacity(claimed.len());
    while let Some(worked) = pushing.next().await {
        all.push(worked);
    }
    all.sort_unstable_by_key(|w| w.done.position);
    all
}

/// Turns what came of a push into what is booked and what happens next.
fn worked(
    parts: &Parts,
    line: &Line,
    batch: &Batch,
    campaign: &Campaign,
    claimed: Claimed<'_>,
    pushed: Pushed,
    now: Instant,
) -> Worked {
    let (outcome, next) = match pushed {
        Pushed::Delivered => (Outcome::Delivered, None),
        Pushed::Closed(reason) => (Outcome::Closed(reason), None),
        Pushed::Released => (Outcome::Released, None),
        Pushed::NoChannelLeft => (Outcome::Closed(Reason::DeviceGone), None),
        Pushed::Move(channel) if campaign.channels.contains(&channel) => {
            (Outcome::Moved { channel: channel.clone() }, Some(Next { channel, wait: Duration::ZERO }))
        }
        Pushed::Move(_) => (Outcome::Closed(Reason::NoDevice), None),
        // one more try under the same identity, then it is final
        Pushed::NoAnswer if claimed.claim.maybe() || batch.attempt >= parts.settings.attempts => {
            (Outcome::Closed(Reason::NoAnswer), None)
        }
        Pushed::NoAnswer => retry(parts, line, batch, claimed, None, true, now),
        Pushed::Failed { after, maybe } => retry(parts, line, batch, claimed, after, maybe, now),
    };
    let zone = zone_of(batch, claimed.entry);
    Worked { done: Done { position: claimed.entry.position, zone, outcome }, next, gone: Vec::new() }
}

fn retry(
    parts: &Parts,
    line: &Line,
    batch: &Batch,
    claimed: Claimed<'_>,
    after: Option<Duration>,
    maybe: bool,
    now: Instant,
) -> (Outcome, Option<Next>) {
    if batch.attempt >= parts.settings.attempts {
        // what a provider may have taken is not called dead
        let unknown = maybe || claimed.claim.maybe();
        return (Outcome::Closed(if unknown { Reason::NoAnswer } else { Reason::Attempts }), None);
    }
    // by batch: those that failed together go on together, and other batches at other times
    let own = jittered(backoff(&parts.settings, batch.attempt + 1), batch.id.low());
    let wait = after.map_or(own, |asked| asked.max(own));
    let at = chrono::TimeDelta::from_std(wait).ok().and_then(|wait| now.checked_add_signed(wait));
    if at.is_none_or(|at| at >= batch.deadline(claimed.entry)) {
        let unknown = maybe || claimed.claim.maybe();
        return (Outcome::Closed(if unknown { Reason::NoAnswer } else { Reason::Deadline }), None);
    }
    (Outcome::Retry { maybe }, Some(Next { channel: line.name.clone(), wait }))
}

/// The zone an entry was sealed in.
pub(crate) fn zone_of(batch: &Batch, entry: &BatchEntry) -> Zone {
    batch.zones[usize::from(entry.zone)].zone
}
