use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State};
use domain::Instant;
use job_queue::{Batch, DeadId, DeadLetter, DeadReason, encoding};
use night_ledger::StoreError;
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpsState;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    reason: DeadReason,
    /// Only those after this one.
    after: Option<u64>,
    limit: usize,
}

/// Letters looked at in one request: the rest is another's.
const PAGE: usize = 200;

/// `POST /ops/v1/dead/replay` with `{"reason", "after", "limit"}`: publishes dead letters of this reason once more, oldest
/// first, and takes them off. Answers how many batches and users went, what was refused by reason, and the letter after
/// which to go on, if there may be more.
///
/// A batch that was given up after its attempts is set free in the ledger and starts over at the first; others go as they
/// are; what was recorded of one and not published before it was buried is published by the work on it. A letter that is
/// published and not taken off is published again by the next replay: the claims see to it that nobody gets a second push.
pub(super) async fn replay(
    State(state): State<Arc<OpsState>>,
    Json(asked): Json<Asked>,
) -> Result<Json<Value>, ApiError> {
    let queue = &state.parts.queue;
    let page = queue.dead(asked.after.map(DeadId), PAGE).await?;
    let (mut batches, mut taken, mut users) = (Vec::new(), Vec::new(), 0);
    let mut refused = BTreeMap::<&str, u64>::new();
    let (mut next, whole) = (None, page.len() < PAGE);
    for (id, letter) in page {
        if taken.len() >= asked.limit {
            break;
        }
        next = Some(id.0);
        if letter.reason != asked.reason {
            continue;
        }
        match judge(&state, &letter, state.clock.now()) {
            Ok(batch) => {
                let (batch, free) = again(&state, &letter, batch).await?;
                users += free;
                batches.push(batch);
                taken.push(id);
            }
            Err(why) => *refused.entry(why).or_default() += 1,
        }
    }
    queue.publish(&batches).await?;
    if !taken.is_empty() {
        queue.take_dead(&taken).await?;
    }
    let next = next.filter(|_| !whole && taken.len() < asked.limit);
    Ok(Json(json!({ "replayed": taken.len(), "users": users, "refused": refused, "next": next })))
}

/// The batch of a letter, if it can be worked.
fn judge(state: &OpsState, letter: &DeadLetter, now: Instant) -> Result<Batch, &'static str> {
    let Ok(batch) = encoding::decode(&letter.bytes) else { return Err("malformed") };
    if !state.parts.campaigns.contains_key(&batch.campaign) {
        return Err("unknown_campaign");
    }
    if !state.parts.lines.contains_key(&batch.channel) {
        return Err("unknown_channel");
    }
    match batch.last_deadline() {
        Some(deadline) if deadline > now => Ok(batch),
        _ => Err("past_deadline"),
    }
}

/// The batch to publish, and how many users it is for: those that were set free of one that had used up its attempts, all
/// of another.
async fn again(state: &OpsState, letter: &DeadLetter, batch: Batch) -> Result<(Batch, u64), StoreError> {
    let count = u64::try_from(batch.entries.len()).unwrap_or(u64::MAX);
    if letter.reason != DeadReason::Attempts {
        return Ok((Batch { not_before: None, ..batch }, count));
    }
    let positions: Vec<u32> = batch.entries.iter().map(|e| e.position).collect();
    let free = state.parts.ledger.reopen(&batch.seal(), &positions).await?;
    // published also where nothing was set free: a replay before this one may have come no further than that
    let id = batch.id.child(1, &batch.channel, positions);
    Ok((Batch { id, attempt: 1, not_before: None, ..batch }, free))
}

#[cfg(test)]
mod tests {
    use domain::BatchId;
    use night_ledger::Class;
    use plumbing::Span;
    use sender::channel::{Kind, StubSettings};

    use crate::testing::Town;

    use super::*;

    fn failing(config: &mut config::Config) {
        config.sender.attempts = 2;
        config.sender.ladder = vec![Span::millis(1)];
        config.sender.backoff = Span::millis(1);
        for channel in config.channels.values_mut() {
            channel.kind = Kind::Stub(StubSettings { latency: Span::millis(1), error_rate: 1.0 });
        }
    }

    async fn replayed(town: &Town, reason: &str) -> Value {
        let body = json!({ "reason": reason, "after": null, "limit": 1_000 });
        let (status, answer) = town.ask("POST", "/ops/v1/dead/replay", body).await;
        assert!(status.is_success(), "{answer}");
        answer
    }

    async fn dead(town: &Town) -> usize {
        town.program.parts.queue.dead(None, 1_000).await.unwrap().len()
    }

    #[tokio::test]
    async fn those_given_up_after_their_attempts_start_over() {
        let town = Town::new(30, 30).await.with(failing).await;
        town.night_over().await;
        let failed = town.sums().await;
        assert_eq!((failed.class(Class::Dead), failed.delivered), (30, 0));
        let letters = dead(&town).await;
        assert!(letters > 0);
        let town = town.with(|_| ()).await;
        assert_eq!(replayed(&town, "panicked").await["replayed"], 0);
        let answer = replayed(&town, "attempts").await;
        assert_eq!(
            answer,
            json!({ "replayed": letters, "users": 30, "refused": {}, "next": null }),
            "their letters are taken off"
        );
        assert_eq!((town.sums().await.open, dead(&town).await), (30, 0));
        town.night_over().await;
        let after = town.sums().await;
        assert_eq!((after.delivered, after.class(Class::Dead), after.open, after.duplicates), (30, 0, 0, 0));
    }

    #[tokio::test]
    async fn a_replay_that_died_half_way_doubles_nothing() {
        let town = Town::new(5, 5).await.with(failing).await;
        town.night_over().await;
        let town = town.with(|_| ()).await;
        let queue = &town.program.parts.queue;
        let letters = queue.dead(None, 100).await.unwrap();
        replayed(&town, "attempts").await;
        // as if the letters had not been taken off
        for (_, letter) in letters {
            queue.bury(letter).await.unwrap();
        }
        assert_eq!(replayed(&town, "attempts").await["users"], 0);
        town.night_over().await;
        let after = town.sums().await;
        assert_eq!((after.delivered, after.open, after.duplicates), (5, 0, 0));
    }

    #[tokio::test]
    async fn what_cannot_be_worked_is_refused_and_kept() {
        let town = Town::new(3, 3).await.with(failing).await;
        town.night_over().await;
        let (queue, clock) = (&town.program.parts.queue, &town.program.clock);
        let letters = queue.dead(None, 100).await.unwrap();
        let (_, letter) = &letters[0];
        let batch = encoding::decode(&letter.bytes).unwrap();
        let with = |reason, bytes| DeadLetter { reason, bytes, ..letter.clone() };
        let stranger = Batch { campaign: "weekly".parse().unwrap(), id: BatchId(7), ..batch.clone() };
        queue.bury(with(DeadReason::Malformed, b"rubbish".to_vec())).await.unwrap();
        queue.bury(with(DeadReason::UnknownCampaign, encoding::encode(&stranger))).await.unwrap();
        let kept = dead(&town).await;
        clock.move_to(batch.last_deadline().unwrap());
        for (reason, why, count) in [
            ("malformed", "malformed", 1),
            ("unknown_campaign", "unknown_campaign", 1),
            ("attempts", "past_deadline", letters.len()),
        ] {
            let answer = replayed(&town, reason).await;
            assert_eq!(
                (&answer["replayed"], &answer["refused"]),
                (&json!(0), &json!({ why: count })),
                "{answer}"
            );
        }
        assert_eq!(dead(&town).await, kept);
        let (status, _) = town
            .ask("POST", "/ops/v1/dead/replay", json!({ "reason": "bored", "after": null, "limit": 1 }))
            .await;
        assert!(status.is_client_error());
    }
}
