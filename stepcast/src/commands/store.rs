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
    say!("{} = {}", entry["key"].as_str().unwrap_or_default(), entry["steps"]);
    for one in entry["sources"].as_array().into_iter().flatten() {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let jumped = if one["jumped"] == true { ", jumped" } else { "" };
        say!("  {}: {} ({}{jumped})", text("source"), one["total"], text("kind"));
    }
    Ok(Ending::Done)
}
