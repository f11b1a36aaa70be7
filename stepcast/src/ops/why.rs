use std::sync::Arc;

use axum::{
    Json,
    extract::{Query, State},
};
use chrono::{SecondsFormat, TimeDelta};
use domain::{CampaignName, Day, Identity, Night, Uid};
use night_ledger::State as ClaimState;
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpsState;

#[derive(Deserialize)]
pub(super) struct Asked {
    uid: String,
    campaign: CampaignName,
    day: Day,
}

/// `GET /ops/v1/why?uid=&campaign=&day=`
pub(super) async fn why(
    State(state): State<Arc<OpsState>>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let uid: Uid = asked.uid.parse().map_err(|e: domain::BadUid| ApiError::bad("bad_uid", e.to_string()))?;
    let night = Night { campaign: asked.campaign, day: asked.day };
    let identity = Identity { campaign: night.campaign.clone(), uid, day: night.day };
    let Some(why) = state.parts.ledger.why(&night, uid).await? else {
        return not_due(&state, &night, uid).await;
    };
    let (what, reason, attempt) = match why.claim.state() {
        ClaimState::Free(attempt) => ("waits", None, Some(attempt)),
        ClaimState::Claimed(attempt) => ("in_flight", None, Some(attempt)),
        ClaimState::Delivered(attempt) => ("delivered", None, Some(attempt)),
        ClaimState::Closed(reason) => (reason.class().name(), Some(reason.name()), None),
    };
    let text = |at: domain::Instant| at.to_rfc3339_opts(SecondsFormat::Millis, true);
    let worked = why
        .worked
        .iter()
        .map(|w| json!({ "at": text(w.at), "batch": w.batch.to_string(), "attempt": w.attempt }));
    Ok(Json(json!({
        "identity": identity.to_string(),
        "outcome": what,
        "reason": reason,
        "attempt": attempt,
        "maybe": why.claim.maybe(),
        "pushed_again": why.claim.again(),
        "zone": why.zone.name(),
        "channel": why.channel.as_str(),
        "shard": why.seal.shard.0,
        "slot": why.slot,
        "position": why.position,
        "due_at": text(why.seal.instant + TimeDelta::seconds(why.slot.into())),
        "worked": worked.collect::<Vec<_>>(),
    })))
}

/// Why somebody is in no seal of a night.
async fn not_due(state: &OpsState, night: &Night, uid: Uid) -> Result<Json<Value>, ApiError> {
    let user = state.parts.directory.users(&[uid]).await?.into_iter().next().flatten();
    let Some(user) = user else {
        return Err(ApiError::absent("unknown_user", format!("user {uid} is not in the directory")));
    };
    let campaign = state.parts.campaigns.get(&night.campaign);
    let Some((campaign, _)) = campaign else {
        return Err(ApiError::absent(
            "unknown_campaign",
            format!("campaign {} is not configured", night.campaign),
        ));
    };
    let known = state.parts.ledger.nights().await?.contains(night);
    let zone = user.zone_on(night.day);
    let fires = domain::fire(&campaign.line, campaign.window, zone, night.day);
    let reason = match fires {
        None => "the campaign does not fire on this day in the user's zone",
        Some(_) if !user.consent => "the user is not opted in",
        Some(_) if !user.devices.iter().any(|d| campaign.channels.contains(&d.channel)) => {
            "the user has no device on a channel of the campaign"
        }
        Some(fire) if user.consent_at > fire.at => "the user opted in after the hour",
        Some(fire) if fire.at > state.clock.now() => "the night is not sealed yet in the user's zone",
        Some(_) if !known => "nothing of this night was sealed here, or it is older than 14 days",
        Some(_) => "the user was not due when the night was sealed",
    };
    let due = fires.map(|f| f.at + TimeDelta::seconds(domain::slot(uid, campaign.window).into()));
    Ok(Json(json!({
        "outcome": "not_due",
        "reason": reason,
        "zone": zone.name(),
        "due_at": due.map(|at| at.to_rfc3339_opts(SecondsFormat::Millis, true)),
    })))
}
