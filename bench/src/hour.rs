use anyhow::{Context, ensure};
use chrono::TimeDelta;
use domain::{CronLine, Day, Instant, Zone, fire};

/// The hour of a night that is rehearsed.
#[derive(Clone, Debug)]
pub(crate) struct Hour {
    /// The `Day`.
    pub(crate) day: Day,
    /// 22:00:00 in each of the zones.
    pub(crate) fires: Instant,
    /// Zones that share the instant.
    pub(crate) zones: Vec<Zone>,
}

/// Seconds of the campaign's window.
pub(crate) const WINDOW: u32 = 1;
/// A zone without summer time, whose offset many share.
const ZONE: &str = "Africa/Nairobi";
/// How many zones share the instant.
const ZONES: usize = 30;

/// 22:00 of the day after tomorrow: ahead of whatever an import at `now` could bear upon.
pub(crate) fn hour(now: Instant) -> anyhow::Result<Hour> {
    let line: CronLine = "0 22 * * *".parse()?;
    let first: Zone = ZONE.parse()?;
    let day = first.day_at(now + TimeDelta::days(2));
    let at = |zone| fire(&line, WINDOW, zone, day).map(|f| f.at);
    let fires = at(first).context("the campaign does not fire")?;
    let others = Zone::all().filter(|&zone| zone != first && at(zone) == Some(fires));
    let zones: Vec<_> = std::iter::once(first).chain(others).take(ZONES).collect();
    ensure!(zones.len() == ZONES, "only {} zones share {fires}", zones.len());
    Ok(Hour { day, fires, zones })
}

impl Hour {
    /// The same a day later, in the first of the zones alone: the others may have put their clocks forward or back.
    pub(crate) fn next(&self) -> anyhow::Result<Self> {
        let first = *self.zones.first().context("no zone")?;
        let day = first.day_at(self.fires + TimeDelta::days(1));
        let fires =
            fire(&"0 22 * * *".parse()?, WINDOW, first, day).context("the campaign does not fire")?.at;
        Ok(Self { day, fires, zones: vec![first] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_every_month_thirty_zones_share_the_instant() {
        for month in 1..=12 {
            let now: Instant = format!("2026-{month:02}-15T23:30:00Z").parse().unwrap();
            let hour = hour(now).unwrap();
            // Nairobi is three hours ahead: it was the 16th there
            assert_eq!(hour.day.to_string(), format!("2026{month:02}18"));
            assert_eq!(hour.fires.to_rfc3339(), format!("2026-{month:02}-18T19:00:00+00:00"));
            assert!(hour.zones.iter().all(|z| z.local(hour.fires).to_string().ends_with(" 22:00:00")));
            let next = hour.next().unwrap();
            assert_eq!(next.day.to_string(), format!("2026{month:02}19"));
            assert_eq!(next.fires.to_rfc3339(), format!("2026-{month:02}-19T19:00:00+00:00"));
        }
    }
}
