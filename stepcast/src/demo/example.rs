//! One push of the night as a person got it, with what the ledger knows of it.

use anyhow::Context;
use chrono::TimeDelta;
use domain::{Identity, Night};
use sender::{Parts, Values};

use super::{tally::Example, words::wrapped};

/// The widest line of a text, in characters.
const WIDTH: usize = 74;

/// The example in a few lines; the text comes from the campaign's templates as it does in the sender.
pub(super) async fn example(parts: &Parts, night: &Night, example: Example) -> anyhow::Result<String> {
    let uid = example.uid;
    let user = parts.directory.users(&[uid]).await?.into_iter().next().flatten();
    let user = user.with_context(|| format!("user {uid} is not in the directory"))?;
    let why = parts.ledger.why(night, uid).await?;
    let why = why.with_context(|| format!("user {uid} is in no seal of {night}"))?;
    let steps = parts.steps.entry(uid, night.day).await?.map_or(0, |entry| entry.number());
    let (_, texts) = parts.campaigns.get(&night.campaign).context("the campaign is not configured")?;
    let (title, body) = texts.render(&user.language, Values { name: &user.name, steps, day: night.day })?;
    let identity = Identity { campaign: night.campaign.clone(), uid, day: night.day };
    let local = |at| why.zone.local(at).format("%H:%M:%S");
    let due = local(why.seal.instant + TimeDelta::seconds(why.slot.into()));
    let mut lines =
        vec![format!("One push, to user {uid} in {} ({}):", why.zone, user.language), String::new()];
    lines.push(format!("    {title}"));
    lines.extend(wrapped(&body, WIDTH).into_iter().map(|line| format!("    {line}")));
    lines.push(String::new());
    lines.push(format!("  due         {due} local time: second {} of the window is this user's", why.slot));
    for worked in &why.worked {
        let took = worked.attempt == example.attempt;
        let end = if took { "delivered" } else { "failed, to be tried again" };
        lines.push(format!("  try {}       {} {end}", worked.attempt, local(worked.at)));
    }
    lines.push(format!("  identity    {identity}, the same at every try"));
    Ok(lines.join("\n") + "\n")
}
