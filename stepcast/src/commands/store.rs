use config::Config;

use super::print_json;
use crate::{access::Access, cli::Store, endings::Ending, say::say};

/// `stepcast store get`
pub(super) async fn run(config: Config, asked: Store) -> anyhow::Result<Ending> {
    let Store::Get { uid, day, json } = asked;
    let query = [("uid", uid.to_string()), ("day", day.to_string())];
    let entry = Access::open(config).await?.get("/ops/v1/steps", &query).await?;
    if json {
        return Ok(print_json(&entry));
    }
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    match entry["steps"].as_u64() {
        Some(steps) => say!("{} = {steps}", text(&entry["key"])),
        None => say!("{} is absent", text(&entry["key"])),
    }
    for source in entry["sources"].as_array().into_iter().flatten() {
        let jumped = if source["jumped"] == true { ", jumped" } else { "" };
        say!("  {} = {} ({}{jumped})", text(&source["source"]), source["total"], text(&source["kind"]));
    }
    Ok(Ending::Done)
}
