use std::collections::BTreeMap;

use job_queue::DeadReason;
use serde_json::{Value, json};

use super::print_json;
use crate::{access::Access, endings::Ending, say::say};

/// `stepcast dead replay`: page by page, until no letter of the reason is left or the limit is reached.
pub(super) async fn replay(
    access: &Access,
    reason: DeadReason,
    limit: u32,
    json: bool,
) -> anyhow::Result<Ending> {
    let (mut replayed, mut users) = (0, 0);
    let mut refused = BTreeMap::<String, u64>::new();
    let mut after = Value::Null;
    loop {
        let body =
            json!({ "reason": reason, "after": after, "limit": u64::from(limit).saturating_sub(replayed) });
        let page = access.post_json("/ops/v1/dead/replay", &body).await?;
        replayed += page["replayed"].as_u64().unwrap_or_default();
        users += page["users"].as_u64().unwrap_or_default();
        for (why, count) in page["refused"].as_object().into_iter().flatten() {
            *refused.entry(why.clone()).or_default() += count.as_u64().unwrap_or_default();
        }
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    if json {
        return Ok(print_json(
            &json!({ "reason": reason, "replayed": replayed, "users": users, "refused": refused }),
        ));
    }
    say!("{replayed} dead letters were replayed, for {users} users");
    for (why, count) in &refused {
        say!("{count} were refused: {}", sentence(why));
    }
    Ok(Ending::Done)
}

fn sentence(why: &str) -> &str {
    match why {
        "malformed" => "their bytes are no batch",
        "past_deadline" => "their last deadline has passed",
        "unknown_campaign" => "their campaign is not configured",
        "unknown_channel" => "their channel is not configured",
        other => other,
    }
}
