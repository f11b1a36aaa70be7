use config::Config;
use serde_json::Value;

use super::print_json;
use crate::{access::Access, cli::NightShow, endings::Ending, say::say};

/// `stepcast night show`
pub(super) async fn show(config: Config, asked: NightShow) -> anyhow::Result<Ending> {
    let mut query = vec![("campaign", asked.campaign.to_string()), ("day", asked.day.to_string())];
    query.extend(asked.zone.map(|zone| ("zone", zone.name().to_owned())));
    if asked.recount {
        query.push(("recount", "true".to_owned()));
    }
    let night = Access::open(config).await?.get("/ops/v1/night", &query).await?;
    let agrees = night["recount"]["agrees"].as_bool();
    if asked.json {
        print_json(&night);
    } else {
        print(&night);
        match agrees {
            Some(true) => say!("\nthe recount from the claims agrees"),
            Some(false) => say!("\nTHE RECOUNT FROM THE CLAIMS DISAGREES (--json shows both)"),
            None if asked.recount => {
                say!("\nthe night went on while it was counted again: ask once more")
            }
            None => {}
        }
    }
    Ok(if agrees == Some(false) { Ending::Failed } else { Ending::Done })
}

const TERMS: [&str; 12] = [
    "due",
    "delivered",
    "suppressed",
    "expired",
    "missed",
    "aborted",
    "rejected",
    "dead",
    "uncertain",
    "open",
    "unknown",
    "duplicates",
];

/// The sums of a night for people: what is not zero, the reasons, and a line a zone and channel.
pub(crate) fn print(night: &Value) {
    say!(
        "night {} of {}",
        night["campaign"].as_str().unwrap_or_default(),
        night["day"].as_str().unwrap_or_default()
    );
    for term in TERMS {
        let always = matches!(term, "due" | "delivered" | "open");
        if always || night[term] != 0 {
            say!("  {term:<11} {:>10}", night[term].to_string());
        }
    }
    if let Some(reasons) = night["reasons"].as_object().filter(|r| !r.is_empty()) {
        let reasons: Vec<_> = reasons.iter().map(|(name, count)| format!("{name} {count}")).collect();
        say!("  reasons: {}", reasons.join(", "));
    }
    for line in brakes(&night["brakes"]) {
        say!("  {line}");
    }
    let mut zones = std::collections::BTreeMap::<(&str, &str), [u64; 4]>::new();
    for line in night["lines"].as_array().into_iter().flatten() {
        let count = |term: &str| line[term].as_u64().unwrap_or_default();
        let key = (line["zone"].as_str().unwrap_or_default(), line["channel"].as_str().unwrap_or_default());
        let sums = zones.entry(key).or_default();
        let [due, delivered, open] = ["due", "delivered", "open"].map(count);
        let others = due.saturating_sub(delivered + open);
        sums.iter_mut().zip([due, delivered, others, open]).for_each(|(sum, n)| *sum += n);
    }
    say!(
        "\n  {:<32} {:<12} {:>9} {:>9} {:>9} {:>9}",
        "zone",
        "channel",
        "due",
        "delivered",
        "others",
        "open"
    );
    for ((zone, channel), [due, delivered, others, open]) in zones.into_iter().filter(|(_, n)| n[0] > 0) {
        say!("  {zone:<32} {channel:<12} {due:>9} {delivered:>9} {others:>9} {open:>9}");
    }
}

/// The brakes on a night for people, a line each.
fn brakes(brakes: &Value) -> Vec<String> {
    let whole = brakes["whole"].as_str().map(|brake| format!("the night as a whole is {brake}"));
    let zones = brakes["zones"].as_object().into_iter().flatten();
    let zones = zones.map(|(zone, brake)| format!("{zone} is {}", brake.as_str().unwrap_or_default()));
    whole.into_iter().chain(zones).collect()
}
