use std::collections::BTreeMap;

use chrono::TimeDelta;
use domain::{Campaign, Day, Instant, Zone, fire};

/// One instant of the night, at which it is the hour in some zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// When it fires.
    pub(super) at: Instant,
    /// Where.
    pub(super) zones: Vec<Zone>,
    /// The first deadline of the zones: the clock is not moved to it while work is open.
    pub(super) deadline: Instant,
}

/// The instants of a campaign's `Day` in these zones, in their order.
pub(super) fn stops(campaign: &Campaign, day: Day, zones: impl IntoIterator<Item = Zone>) -> Vec<Stop> {
    let mut stops = BTreeMap::<Instant, Stop>::new();
    for zone in zones {
        let Some(fire) = fire(&campaign.line, campaign.window, zone, day) else { continue };
        let new = || Stop { at: fire.at, zones: Vec::new(), deadline: fire.deadline };
        let stop = stops.entry(fire.at).or_insert_with(new);
        stop.zones.push(zone);
        stop.deadline = stop.deadline.min(fire.deadline);
    }
    stops.into_values().collect()
}

impl Stop {
    /// The moments at which the scheduler is asked to do its work: when the seal is due, then each second of the window.
    pub(super) fn moments(&self, ahead: TimeDelta, window: u32) -> impl Iterator<Item = Instant> {
        let at = self.at;
        let seconds = (0..window.max(1)).map(move |second| at + TimeDelta::seconds(second.into()));
        std::iter::once(at - ahead).chain(seconds)
    }

    /// What a wall clock in the first zone shows at an instant.
    pub(super) fn time(&self, at: Instant, format: &str) -> String {
        self.zones.first().map(|zone| zone.local(at).format(format).to_string()).unwrap_or_default()
    }

    /// The zones as a line shows them.
    pub(super) fn names(&self) -> String {
        self.zones.iter().map(|zone| zone.name()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign() -> Campaign {
        Campaign {
            name: "nightly".parse().unwrap(),
            line: "0 22 * * *".parse().unwrap(),
            window: 60,
            channels: vec!["stub".parse().unwrap()],
            no_steps: Default::default(),
        }
    }

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    /// On 7 June 2026 Auckland is 12 h ahead of UTC, Shanghai and Taipei 8 h, Kathmandu 5:45 h, Los Angeles 7 h behind.
    #[test]
    fn zones_that_share_an_instant_are_one_stop() {
        let zones =
            ["America/Los_Angeles", "Asia/Shanghai", "Asia/Kathmandu", "Pacific/Auckland", "Asia/Taipei"];
        let stops = stops(&campaign(), "20260607".parse().unwrap(), zones.map(|z| z.parse().unwrap()));
        let seen: Vec<_> = stops.iter().map(|s| (s.at, s.names())).collect();
        assert_eq!(
            seen,
            [
                (at("2026-06-07T10:00:00Z"), "Pacific/Auckland".to_owned()),
                (at("2026-06-07T14:00:00Z"), "Asia/Shanghai, Asia/Taipei".to_owned()),
                (at("2026-06-07T16:15:00Z"), "Asia/Kathmandu".to_owned()),
                (at("2026-06-08T05:00:00Z"), "America/Los_Angeles".to_owned()),
            ]
        );
        assert_eq!(stops[3].deadline, at("2026-06-08T07:00:00Z"));
    }

    #[test]
    fn moments_are_the_seal_and_every_second_of_the_window() {
        let stop =
            Stop { at: at("2026-06-07T10:00:00Z"), zones: Vec::new(), deadline: at("2026-06-07T12:00:00Z") };
        let moments: Vec<_> = stop.moments(TimeDelta::minutes(10), 60).collect();
        assert_eq!(moments.len(), 61);
        assert_eq!(moments[..2], [at("2026-06-07T09:50:00Z"), at("2026-06-07T10:00:00Z")]);
        assert_eq!(moments[60], at("2026-06-07T10:00:59Z"));
        assert_eq!(stop.moments(TimeDelta::zero(), 0).count(), 2);
    }

    /// From the first zone's seal to the last deadline no hour of another date comes up anywhere, whatever the season.
    #[test]
    fn a_night_of_the_demo_meets_no_other_night() {
        let zones: Vec<_> = super::super::zones::all().collect();
        let (campaign, mut day): (_, Day) = (campaign(), "20260101".parse().unwrap());
        for _ in 0..400 {
            let [before, tonight, after] =
                [day.previous(), day, day.next()].map(|d| stops(&campaign, d, zones.iter().copied()));
            let starts = tonight[0].at - TimeDelta::minutes(11);
            assert!(before.iter().all(|s| s.deadline <= starts), "{day}");
            assert!(tonight.iter().all(|s| s.deadline + TimeDelta::minutes(10) < after[0].at), "{day}");
            day = day.next();
        }
    }
}
