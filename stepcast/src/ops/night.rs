use std::sync::Arc;

use axum::{
    Json,
    extract::{Query, State},
};
use domain::{CampaignName, Day, Night, Zone};
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OpsState, brake, report};

#[derive(Deserialize)]
pub(super) struct Asked {
    campaign: CampaignName,
    day: Day,
    zone: Option<Zone>,
    #[serde(default)]
    recount: bool,
}

/// `GET /ops/v1/night?campaign=&day=[&zone=][&recount=true]`
pub(super) async fn show(
    State(state): State<Arc<OpsState>>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let night = Night { campaign: asked.campaign, day: asked.day };
    let brakes = state.parts.ledger.brakes(&night).await?;
    if brakes.is_empty() && !state.parts.ledger.nights().await?.contains(&night) {
        return Err(unknown(&night));
    }
    let sums = state.parts.ledger.sums(&night).await?;
    let mut shown = report::night(&night, &sums, asked.zone);
    shown["brakes"] = brake::shown(&brakes);
    if asked.recount {
        // a night that goes on changes between the two: only one that stood still can be compared
        let recount = state.parts.ledger.recount(&night).await?;
        let again = state.parts.ledger.sums(&night).await?;
        let still = again == sums;
        shown["recount"] = json!({
            "agrees": still.then(|| sums.agrees(&recount)),
            "counted": report::night(&night, &recount, asked.zone),
        });
    }
    Ok(Json(shown))
}

/// The answer where nothing of a night was sealed.
pub(super) fn unknown(night: &Night) -> ApiError {
    ApiError::absent("unknown_night", format!("there is no night {night}: nothing of it was sealed"))
}
