use std::collections::BTreeSet;

use anyhow::bail;
use directory::Applied;
use domain::{Day, Instant, Zone};
use sender::Parts;

use super::{
    day::{self, Waves},
    population::{Common, Person, Population},
    progress::Progress,
};

/// Who was put in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Census {
    /// People.
    pub(super) users: u64,
    /// Of them, those that do not want the push.
    pub(super) opted_out: u64,
    /// Of the others, those without a device.
    pub(super) no_device: u64,
    /// Where those live that are due.
    pub(super) zones: BTreeSet<Zone>,
}

/// Users handed to the stores at once.
const PIECE: usize = 10_000;

/// Puts the population into the directory, and answers beside the census what they report of `day`.
pub(super) async fn fill(
    parts: &Parts,
    population: &Population,
    common: &Common,
    day: Day,
    now: Instant,
    progress: &Progress,
) -> anyhow::Result<(Census, Waves)> {
    let (mut census, mut waves) = (Census::default(), Waves::new());
    progress.filling(population.len());
    for first in (0..population.len()).step_by(PIECE) {
        let mut changes = Vec::new();
        for index in first..population.len().min(first + PIECE) {
            let person = population.person(index)?;
            day::add(&mut waves, &person, day);
            census.count(&person);
            changes.push(person.change(common)?);
        }
        for applied in parts.directory.apply(changes, now).await? {
            if let Applied::Refused(refusal) = applied {
                bail!("the directory refused a user: {refusal}");
            }
        }
        progress.filled(census.users);
    }
    Ok((census, waves))
}

impl Census {
    /// Those who are due tonight.
    pub(super) fn due(&self) -> u64 {
        self.users - self.opted_out - self.no_device
    }

    fn count(&mut self, person: &Person) {
        self.users += 1;
        if !person.consent {
            self.opted_out += 1;
        } else if person.devices.is_empty() {
            self.no_device += 1;
        } else {
            self.zones.insert(person.zone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_due_is_counted_once() {
        let mut census = Census::default();
        let one = Population::MadeUp(1).person(0).unwrap();
        let out = Person { consent: false, ..one.clone() };
        let out_without_device = Person { consent: false, devices: &[], ..one.clone() };
        let without_device = Person { devices: &[], ..one.clone() };
        [&one, &out, &out_without_device, &without_device, &one].into_iter().for_each(|p| census.count(p));
        assert_eq!((census.users, census.opted_out, census.no_device, census.due()), (5, 2, 1, 2));
        assert!(census.zones.iter().eq([&one.zone]));
    }
}
