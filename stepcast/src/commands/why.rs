use config::Config;
use serde_json::Value;

use super::print_json;
use crate::{access::Access, cli, endings::Ending, say::say};

/// `stepcast why UID`
pub(super) async fn why(config: Config, asked: cli::Why) -> anyhow::Result<Ending> {
    let query = [
        ("uid", asked.uid.to_string()),
        ("campaign", asked.campaign.to_string()),
        ("day", asked.day.to_string()),
    ];
    let why = Access::open(config).await?.get("/ops/v1/why", &query).await?;
    if asked.json {
        return Ok(print_json(&why));
    }
    let text = |field: &str| match &why[field] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    say!("user {}, {} of {}: {}", asked.uid, asked.campaign, asked.day, text("outcome"));
    if !why["reason"].is_null() {
        say!("  because     {}", text("reason"));
    }
    for (label, field) in [
        ("zone", "zone"),
        ("channel", "channel"),
        ("due at", "due_at"),
        ("slot", "slot"),
        ("shard", "shard"),
        ("attempt", "attempt"),
    ] {
        if !why[field].is_null() {
            say!("  {label:<11} {}", text(field));
        }
    }
    for worked in why["worked"].as_array().into_iter().flatten() {
        let at = worked["at"].as_str().unwrap_or_default();
        say!(
            "  worked at   {at}, attempt {}, batch {}",
            worked["attempt"],
            worked["batch"].as_str().unwrap_or_default()
        );
    }
    if why["maybe"] == true {
        say!("  a push may have been taken by the provider and not recorded");
    }
    if why["pushed_again"] == true {
        say!("  it was pushed again after that, under the same identity");
    }
    Ok(Ending::Done)
}
