use config::Config;
use serde_json::{Value, json};

use super::print_json;
use crate::{access::Access, cli::NightBrake, endings::Ending, say::say};

/// What is asked of a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Hold it back.
    Pause,
    /// Let it go on.
    Resume,
    /// End it for good.
    Abort,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Abort => "abort",
        }
    }
}

/// `stepcast night pause|resume|abort`
pub(super) async fn run(config: Config, asked: NightBrake, action: Action) -> anyhow::Result<Ending> {
    let access = Access::open(config).await?;
    let mut about = json!({ "campaign": asked.campaign, "day": asked.day });
    if let Some(zone) = asked.zone {
        about["zone"] = json!(zone.name());
    }
    let mut body = about.clone();
    body["action"] = json!(action.word());
    let mut told = access.post_json("/ops/v1/night/brake", &body).await?;
    if action == Action::Abort {
        // the brake is set: nothing is claimed any more, and what this does not come to is closed as it is worked
        told["aborted"] = json!(sweep(&access, about).await?);
    }
    if asked.json {
        return Ok(print_json(&told));
    }
    let zone = asked.zone.map(|zone| format!(" in {}", zone.name())).unwrap_or_default();
    say!("night {} of {}{zone}: {}", asked.campaign, asked.day, sentence(&told));
    if asked.zone.is_some() && told["brakes"]["whole"].is_string() {
        say!("the night as a whole is {}", told["brakes"]["whole"].as_str().unwrap_or_default());
    }
    if let Some(count) = told["aborted"].as_u64() {
        say!("{count} users were closed as aborted; what is in flight ends as it ends");
    }
    Ok(Ending::Done)
}

/// Closes what is free, shard by shard; answers how many users that were.
async fn sweep(access: &Access, mut body: Value) -> anyhow::Result<u64> {
    let mut aborted = 0;
    loop {
        let swept = access.post_json("/ops/v1/night/sweep", &body).await?;
        aborted += swept["aborted"].as_u64().unwrap_or_default();
        if swept["next"].is_null() {
            return Ok(aborted);
        }
        body["from"] = swept["next"].clone();
    }
}

fn sentence(told: &Value) -> &'static str {
    match told["result"].as_str().unwrap_or_default() {
        "paused" => "paused; what is due waits, and expires at its deadline",
        "was_paused" => "it was paused already",
        "resumed" => "resumed",
        "was_not_paused" => "it was not paused",
        "was_aborted" => "it was aborted already",
        _ => "aborted, for good",
    }
}
