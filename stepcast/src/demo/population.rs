//! Who is in the demo: made-up people, or real nodes and real user-days with made-up names.

use directory::{Change, NewDevice, NewUser};
use domain::{ChannelName, Instant, Uid, Zone};

use super::{names, random::Random, real::RealData, steps, zones};

/// One user and their day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    /// Who.
    pub(super) uid: Uid,
    /// Where.
    pub(super) zone: Zone,
    /// Whether they want the push.
    pub(super) consent: bool,
    /// What they carry.
    pub(super) devices: &'static [&'static str],
    /// Steps of the day; `None`: nothing was reported.
    pub(super) steps: Option<u32>,
    /// The language of their texts, a tag.
    pub(super) language: &'static str,
    /// What they are called.
    pub(super) name: String,
}

/// Where the people come from.
pub(super) enum Population {
    /// So many made-up ones, with uids from 1 on.
    MadeUp(u32),
    /// The nodes and user-days of files.
    Real(RealData),
}

/// What every record of the population has in common.
#[derive(Clone)]
pub(super) struct Common {
    /// The channel of all devices.
    pub(super) channel: ChannelName,
    /// When everybody opted in.
    pub(super) since: Instant,
}

/// Of a hundred users, how many do not want the push, have no device, walked nothing, have a second device.
const OPTED_OUT: u32 = 4;
const NO_DEVICE: u32 = 3;
const NO_STEPS: u32 = 3;
const TWO_DEVICES: u32 = 10;

impl Population {
    /// How many users there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::MadeUp(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Self::Real(data) => data.users.len(),
        }
    }

    /// The user with this index. The same in every run, and however many others there are.
    pub(super) fn person(&self, index: usize) -> anyhow::Result<Person> {
        match self {
            Self::MadeUp(_) => made_up(u64::try_from(index)? + 1),
            Self::Real(data) => {
                let (uid, steps) = data.users[index];
                let mut person = born(uid, &mut Random::of_user(uid))?;
                person.steps = Some(steps);
                Ok(person)
            }
        }
    }
}

impl Person {
    /// What the directory is told.
    pub(super) fn change(self, common: &Common) -> anyhow::Result<Change> {
        let device = |kind: &&str| NewDevice {
            channel: common.channel.clone(),
            address: format!("demo-{kind}-{}", self.uid),
            registered_at: Some(common.since),
        };
        Ok(Change::Put(NewUser {
            uid: self.uid,
            zone: self.zone,
            region: None,
            language: Some(self.language.parse()?),
            consent: Some(self.consent),
            consent_at: Some(common.since),
            devices: Some(self.devices.iter().map(device).collect()),
            name: Some(self.name),
        }))
    }
}

fn made_up(uid: u64) -> anyhow::Result<Person> {
    let mut random = Random::of_user(uid);
    let mut person = born(uid, &mut random)?;
    // the first one is always due and has walked, so that the smallest demo has a push
    let likely = |random: &mut Random, chances| random.percent(chances) && uid != 1;
    person.consent = !likely(&mut random, OPTED_OUT);
    if likely(&mut random, NO_DEVICE) {
        person.devices = &[];
    } else if random.percent(TWO_DEVICES) {
        person.devices = &["phone", "watch"];
    }
    person.steps = (!likely(&mut random, NO_STEPS)).then(|| steps::plausible(&mut random));
    Ok(person)
}

/// Somebody with a phone who wants the push.
fn born(uid: u64, random: &mut Random) -> anyhow::Result<Person> {
    let (zone, language) = zones::draw(random)?;
    let name = names::draw(random, language);
    Ok(Person { uid: Uid(uid), zone, consent: true, devices: &["phone"], steps: None, language, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(count: u32) -> Vec<Person> {
        let population = Population::MadeUp(count);
        (0..population.len()).map(|index| population.person(index).unwrap()).collect()
    }

    #[test]
    fn a_few_of_each_kind_are_there() {
        let people = people(10_000);
        let share = |is: fn(&Person) -> bool| people.iter().filter(|p| is(p)).count();
        for (found, hundredths) in [
            (share(|p| !p.consent), OPTED_OUT),
            (share(|p| p.devices.is_empty()), NO_DEVICE),
            (share(|p| p.devices.len() == 2), TWO_DEVICES),
            (share(|p| p.steps.is_none()), NO_STEPS),
        ] {
            let wanted = usize::try_from(hundredths * 100).unwrap();
            assert!(found.abs_diff(wanted) < wanted / 3, "{found} of {wanted}");
        }
        assert!(people.iter().all(|p| p.steps != Some(0)));
    }

    #[test]
    fn the_directory_takes_them_as_they_are() {
        let common = Common { channel: "stub".parse().unwrap(), since: Instant::UNIX_EPOCH };
        for person in people(2_000) {
            let (consent, devices) = (person.consent, person.devices.len());
            let Change::Put(user) = person.change(&common).unwrap() else { panic!("a record is wanted") };
            assert_eq!(user.check(), Ok(()));
            assert_eq!((user.consent, user.consent_at), (Some(consent), Some(common.since)));
            assert_eq!(user.devices.map(|d| d.len()), Some(devices));
        }
    }

    #[test]
    fn a_larger_population_begins_with_the_smaller() {
        let large = people(500);
        assert_eq!(people(50), large[..50]);
        assert!(large.iter().map(|p| p.uid.0).eq(1..=500));
    }

    #[test]
    fn the_smallest_has_somebody_to_push_to() {
        let only = people(1).remove(0);
        assert!(only.consent && !only.devices.is_empty() && only.steps.is_some());
    }

    #[test]
    fn of_real_data_everybody_is_due() {
        let population = Population::Real(RealData { users: (0..3_000).map(|uid| (uid, 0)).collect() });
        for index in 0..3_000 {
            let person = population.person(index).unwrap();
            assert!(person.consent && person.devices.len() == 1);
            assert_eq!((person.uid.0, person.steps), (u64::try_from(index).unwrap(), Some(0)));
        }
    }
}
