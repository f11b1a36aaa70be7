use anyhow::Context;
use chrono::{SecondsFormat, Utc};
use config::Config;
use domain::{AuditVerdict, Day, Instant, Zone, audit};
use serde_json::json;

use crate::{
    cli::{Zones, ZonesAudit},
    endings::Ending,
    say::say,
};

/// `stepcast zones audit`
pub(super) fn run(config: &Config, asked: Zones) -> anyhow::Result<Ending> {
    let Zones::Audit(ZonesAudit { campaign, zone, from, days, json }) = asked;
    let campaign = config.campaigns.iter().map(|c| &c.campaign).find(|c| c.name == campaign);
    let campaign = campaign.context("--campaign: no campaign of this name is configured")?;
    let from = from.or_else(|| Day::of(Utc::now().date_naive())).context("--from: today is out of range")?;
    let zones: Vec<Zone> = zone.map_or_else(|| Zone::all().collect(), |zone| vec![zone]);
    let count = zones.len();
    let text = |at: Option<Instant>| at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
    let mut verdict = AuditVerdict::default();
    for row in audit(&campaign.line, campaign.window, zones, from, days) {
        verdict.add(&row);
        let fires = text(row.fires.map(|f| f.at));
        let (begins, freezes) = (text(row.edges.map(|e| e.begins)), text(row.edges.map(|e| e.freezes)));
        let rule = row.fires.map(|f| f.rule.name());
        let fault = row.fault().map(|f| f.to_string());
        if json {
            let (zone, day) = (row.zone.name(), row.day.to_string());
            say!(
                "{}",
                json!({ "zone": zone, "day": day, "fires": fires, "begins": begins, "freezes": freezes, "rule": rule, "fault": fault })
            );
            continue;
        }
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let rule = if row.edges.is_none() { "no such date" } else { rule.unwrap_or("not selected") };
        say!(
            "{:<32} {}  fires {:<20}  begins {:<20}  freezes {:<20}  {rule}{}",
            row.zone.name(),
            row.day,
            or_dash(fires),
            or_dash(begins),
            or_dash(freezes),
            fault.map(|f| format!("  FAULT: {f}")).unwrap_or_default(),
        );
    }
    eprintln!(
        "campaign {} `{}`, {count} zone(s), {days} day(s) from {from}, tzdata {}: {} rows, {} fires, {} moved by a gap, {} taken at the first of two, {} fault(s)",
        campaign.name,
        campaign.line,
        Zone::tzdata_version(),
        verdict.rows,
        verdict.fires,
        verdict.gaps,
        verdict.folds,
        verdict.failures,
    );
    Ok(if verdict.holds() { Ending::Done } else { Ending::Failed })
}
