use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, extract::State};
use domain::{CampaignName, Day, Night, Shard, Zone};
use futures_util::{StreamExt, TryStreamExt, stream};
use night_ledger::{Brake, Brakes, StoreError};
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::OpsState;

/// What is asked of a night's brakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Pause,
    Resume,
    Abort,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    campaign: CampaignName,
    day: Day,
    zone: Option<Zone>,
    action: Action,
}

/// `POST /ops/v1/night/brake` with `{"campaign", "day", "zone", "action": "pause"|"resume"|"abort"}`. Answers what it came
/// to and the brakes as they are now. An abort has to be followed by a sweep: see [`sweep`].
pub(super) async fn set(
    State(state): State<Arc<OpsState>>,
    Json(asked): Json<Asked>,
) -> Result<Json<Value>, ApiError> {
    let night = known(&state, asked.campaign, asked.day).await?;
    let ledger = &state.parts.ledger;
    let brakes = ledger.brakes(&night).await?;
    let over = brakes.whole.max(own(&brakes, asked.zone)) == Some(Brake::Aborted);
    if over && asked.action != Action::Abort {
        return Err(ApiError::bad("aborted", format!("{} was aborted, for good", named(&night, asked.zone))));
    }
    let before = own(&brakes, asked.zone);
    let (wanted, result) = match (asked.action, before) {
        (Action::Pause, None) => (Some(Brake::Paused), "paused"),
        (Action::Pause, Some(_)) => (before, "was_paused"),
        (Action::Resume, None) => (None, "was_not_paused"),
        (Action::Resume, Some(_)) => (None, "resumed"),
        (Action::Abort, Some(Brake::Aborted)) => (before, "was_aborted"),
        (Action::Abort, _) => (Some(Brake::Aborted), "aborted"),
    };
    if wanted != before {
        ledger.set_brake(&night, asked.zone, wanted).await?;
        tracing::warn!(%night, zone = asked.zone.map(Zone::name), result, "an operator set a brake");
    }
    let brakes = ledger.brakes(&night).await?;
    if own(&brakes, asked.zone) != wanted {
        return Err(ApiError::bad("aborted", format!("{} was aborted meanwhile", named(&night, asked.zone))));
    }
    Ok(Json(json!({ "night": night, "result": result, "brakes": shown(&brakes) })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Swept {
    campaign: CampaignName,
    day: Day,
    zone: Option<Zone>,
    /// The shard to begin with.
    #[serde(default)]
    from: u32,
}

/// How long one request of a sweep takes on: the rest is another's.
const SWEEP: Duration = Duration::from_secs(15);
/// Shards swept at once.
const AT_ONCE: usize = 16;

/// `POST /ops/v1/night/sweep` with `{"campaign", "day", "zone", "from"}`: closes what is free in the seals of the shards
/// from `from` on, where the brake says that it is aborted. Answers how many users, and the shard to go on with, if any.
pub(super) async fn sweep(
    State(state): State<Arc<OpsState>>,
    Json(asked): Json<Swept>,
) -> Result<Json<Value>, ApiError> {
    let night = known(&state, asked.campaign, asked.day).await?;
    let ledger = &state.parts.ledger;
    if own(&ledger.brakes(&night).await?, asked.zone) != Some(Brake::Aborted) {
        let named = named(&night, asked.zone);
        return Err(ApiError::bad("not_aborted", format!("{named} is not aborted: set that brake first")));
    }
    if !ledger.nights().await?.contains(&night) {
        // what is sealed from now on is sealed as aborted
        return Ok(Json(json!({ "aborted": 0, "next": null })));
    }
    let n = ledger.shard_count(&night, state.shards).await?;
    let zones = asked.zone.map(|zone| [zone]);
    let zones = zones.as_ref().map(|zones| &zones[..]);
    let (began, mut from, mut aborted) = (Instant::now(), asked.from, 0);
    while from < n.get() && began.elapsed() < SWEEP {
        let to = from.saturating_add(16).min(n.get());
        let shards = stream::iter((from..to).map(|shard| sweep_shard(&state, &night, Shard(shard), zones)));
        let counts: Vec<u64> = shards.buffer_unordered(AT_ONCE).try_collect().await?;
        aborted += counts.iter().sum::<u64>();
        from = to;
    }
    Ok(Json(json!({ "aborted": aborted, "next": (from < n.get()).then_some(from) })))
}

async fn sweep_shard(
    state: &OpsState,
    night: &Night,
    shard: Shard,
    zones: Option<&[Zone]>,
) -> Result<u64, StoreError> {
    let mut aborted = 0;
    for (key, progress) in state.parts.ledger.seals(night, shard).await? {
        if !progress.closed && progress.open > 0 {
            aborted += state.parts.ledger.abort(&key, zones).await?;
        }
    }
    Ok(aborted)
}

/// A night that there is, or that there will be.
async fn known(state: &OpsState, campaign: CampaignName, day: Day) -> Result<Night, ApiError> {
    let night = Night { campaign, day };
    if state.parts.campaigns.contains_key(&night.campaign)
        || state.parts.ledger.nights().await?.contains(&night)
    {
        return Ok(night);
    }
    let message = format!("campaign {} is not configured, and has no night of {day}", night.campaign);
    Err(ApiError::absent("unknown_campaign", message))
}

/// The brake on the night itself, or on the zone itself.
fn own(brakes: &Brakes, zone: Option<Zone>) -> Option<Brake> {
    match zone {
        None => brakes.whole,
        Some(zone) => brakes.zones.get(&zone).copied(),
    }
}

fn named(night: &Night, zone: Option<Zone>) -> String {
    zone.map_or_else(|| night.to_string(), |zone| format!("{night} in {}", zone.name()))
}

/// Brakes as JSON: `{"whole": "paused", "zones": {"Europe/Berlin": "aborted"}}`.
pub(super) fn shown(brakes: &Brakes) -> Value {
    let zones: Map<_, _> =
        brakes.zones.iter().map(|(zone, brake)| (zone.name().to_owned(), json!(word(*brake)))).collect();
    json!({ "whole": brakes.whole.map(word), "zones": zones })
}

/// A brake as a word.
pub(crate) fn word(brake: Brake) -> &'static str {
    match brake {
        Brake::Paused => "paused",
        Brake::Aborted => "aborted",
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use night_ledger::Class;

    use crate::testing::Town;

    use super::*;

    async fn brake(town: &Town, action: &str, zone: Option<&str>) -> (StatusCode, Value) {
        let mut body = json!({ "campaign": "nightly", "day": "20260607", "action": action });
        if let Some(zone) = zone {
            body["zone"] = json!(zone);
        }
        town.ask("POST", "/ops/v1/night/brake", body).await
    }

    async fn result(town: &Town, action: &str, zone: Option<&str>) -> String {
        let (status, answer) = brake(town, action, zone).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer["result"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_pause_is_taken_off_again_and_an_abort_is_not() {
        let town = Town::new(1, 1).await;
        for (action, zone, wanted) in [
            ("resume", None, "was_not_paused"),
            ("pause", None, "paused"),
            ("pause", None, "was_paused"),
            ("pause", Some("Asia/Tokyo"), "paused"),
            ("resume", None, "resumed"),
            ("resume", Some("Asia/Tokyo"), "resumed"),
            ("abort", Some("Asia/Tokyo"), "aborted"),
            ("abort", Some("Asia/Tokyo"), "was_aborted"),
            ("pause", Some("UTC"), "paused"),
        ] {
            assert_eq!(result(&town, action, zone).await, wanted, "{action} {zone:?}");
        }
        let (status, refused) = brake(&town, "resume", Some("Asia/Tokyo")).await;
        assert_eq!((status, &refused["error"]), (StatusCode::BAD_REQUEST, &json!("aborted")));
        let (_, shown) = town.ask("GET", "/ops/v1/night?campaign=nightly&day=20260607", Value::Null).await;
        let zones = json!({ "Asia/Tokyo": "aborted", "UTC": "paused" });
        assert_eq!(shown["brakes"], json!({ "whole": null, "zones": zones }), "{shown}");
        assert_eq!(result(&town, "abort", None).await, "aborted");
        assert_eq!(brake(&town, "resume", Some("UTC")).await.0, StatusCode::BAD_REQUEST);
    }

    #[tokio::test]
    async fn names_that_are_not_there_are_refused() {
        let town = Town::new(1, 1).await;
        let body = json!({ "campaign": "weekly", "day": "20260607", "action": "pause" });
        let (status, refused) = town.ask("POST", "/ops/v1/night/brake", body).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(refused["message"].as_str().unwrap().contains("weekly"), "{refused}");
        let (status, refused) = brake(&town, "pause", Some("Mars/Phobos")).await;
        assert!(status.is_client_error() && refused.to_string().contains("Mars/Phobos"), "{refused}");
    }

    #[tokio::test]
    async fn an_abort_closes_what_is_free_and_nothing_is_pushed() {
        let town = Town::new(40, 40).await;
        town.published().await;
        let about = json!({ "campaign": "nightly", "day": "20260607" });
        let (status, refused) = town.ask("POST", "/ops/v1/night/sweep", about.clone()).await;
        assert_eq!((status, &refused["error"]), (StatusCode::BAD_REQUEST, &json!("not_aborted")));
        assert_eq!(result(&town, "abort", None).await, "aborted");
        for aborted in [40, 0] {
            let (_, swept) = town.ask("POST", "/ops/v1/night/sweep", about.clone()).await;
            assert_eq!(swept, json!({ "aborted": aborted, "next": null }));
        }
        town.night_over().await;
        let sums = town.sums().await;
        assert_eq!((sums.due, sums.class(Class::Aborted), sums.delivered, sums.open), (40, 40, 0, 0));
    }

    #[tokio::test]
    async fn an_abort_ahead_of_the_seal_holds_too() {
        let town = Town::new(10, 10).await;
        assert_eq!(result(&town, "abort", Some("UTC")).await, "aborted");
        town.night_over().await;
        let sums = town.sums().await;
        assert_eq!((sums.due, sums.class(Class::Aborted), sums.open), (10, 10, 0));
    }
}
