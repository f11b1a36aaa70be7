//! The sums of a night as JSON.

use std::collections::BTreeMap;

use domain::{ChannelName, Night, Zone};
use night_ledger::{Class, Line, Reason, StoreError, Sums};
use serde_json::{Map, Value, json};

use super::OpsState;

/// The nights that may still change, with their sums: those of the last three days.
pub(crate) async fn current(state: &OpsState) -> Result<Vec<(Night, Sums)>, StoreError> {
    let from = domain::Day::of((state.clock.now() - chrono::TimeDelta::days(2)).date_naive());
    let mut current = Vec::new();
    for night in state.parts.ledger.nights().await? {
        if from.is_none_or(|day| night.day >= day) {
            let sums = state.parts.ledger.sums(&night).await?;
            current.push((night, sums));
        }
    }
    Ok(current)
}

/// Lines added up by channel.
pub(crate) fn by_channel(sums: &Sums) -> BTreeMap<&ChannelName, Line> {
    let mut channels: BTreeMap<&ChannelName, Sums> = BTreeMap::new();
    for ((zone, shard, channel), line) in &sums.lines {
        channels.entry(channel).or_default().add(*zone, *shard, channel.clone(), line);
    }
    channels.into_iter().map(|(channel, sums)| (channel, sums.total())).collect()
}

/// The terms of the identity of a line, and `duplicates`.
pub(crate) fn terms(line: &Line) -> Vec<(&'static str, u64)> {
    let mut terms = vec![("due", line.due), ("delivered", line.delivered)];
    terms.extend(Class::ALL.map(|class| (class.name(), line.class(class))));
    terms.extend([("open", line.open), ("duplicates", line.duplicates)]);
    terms
}

/// A night's sums, of one zone or of all, with reasons and lines.
pub(crate) fn night(night: &Night, sums: &Sums, zone: Option<Zone>) -> Value {
    let mut wanted = Sums::default();
    for ((at, shard, channel), line) in &sums.lines {
        if zone.is_none_or(|zone| zone == *at) {
            wanted.add(*at, *shard, channel.clone(), line);
        }
    }
    let lines = wanted.lines.iter().map(|((zone, shard, channel), line)| {
        let mut object = object(line);
        object.insert("zone".into(), json!(zone.name()));
        object.insert("shard".into(), json!(shard.0));
        object.insert("channel".into(), json!(channel.as_str()));
        Value::Object(object)
    });
    let lines: Vec<_> = lines.collect();
    let mut whole = object(&wanted.total());
    whole.insert("campaign".into(), json!(night.campaign.as_str()));
    whole.insert("day".into(), json!(night.day.to_string()));
    whole.insert("lines".into(), Value::Array(lines));
    Value::Object(whole)
}

fn object(line: &Line) -> Map<String, Value> {
    let mut object: Map<_, _> =
        terms(line).into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
    object.insert("unknown".into(), json!(line.unknown()));
    let reasons = Reason::ALL.iter().map(|r| (r.name(), line.reasons[usize::from(r.code())]));
    let reasons: Map<_, _> =
        reasons.filter(|(_, n)| *n > 0).map(|(name, n)| (name.to_owned(), json!(n))).collect();
    object.insert("reasons".into(), Value::Object(reasons));
    object
}
