//! Who is in the demo: made-up people, or real nodes and real user-days with made-up names.

use directory::{NewDevice, NewUser};
use domain::{ChannelName, Instant, Region, Uid};

use super::{names, random::Random, real::RealData, steps, zones};

/// One user and their day.
pub(super) struct Person {
    /// The record.
    pub(super) user: NewUser,
    /// Steps of the day; `None`: nothing was reported.
    pub(super) steps: Option<u32>,
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
    pub(super) fn person(&self, index: usize, common: &Common) -> anyhow::Result<Person> {
        match self {
            Self::MadeUp(_) => made_up(u64::try_from(index)? + 1, common),
            Self::Real(data) => {
                let (uid, steps) = data.users[index];
                let mut random = Random::of_user(uid);
                let mut user = record(uid, &mut random, common)?;
                user.devices = vec![device("phone", uid, common)];
                Ok(Person { user, steps: Some(steps) })
            }
        }
    }
}

fn made_up(uid: u64, common: &Common) -> anyhow::Result<Person> {
    let mut random = Random::of_user(uid);
    let mut user = record(uid, &mut random, common)?;
    // the first one is always due and has walked, so that the smallest demo has a push
    let likely = |random: &mut Random, chances| random.percent(chances) && uid != 1;
    user.consent = !likely(&mut random, OPTED_OUT);
    if !likely(&mut random, NO_DEVICE) {
        user.devices.push(device("phone", uid, common));
        if random.percent(TWO_DEVICES) {
            user.devices.push(device("watch", uid, common));
        }
    }
    let steps = (!likely(&mut random, NO_STEPS)).then(|| steps::plausible(&mut random));
    Ok(Person { user, steps })
}

fn record(uid: u64, random: &mut Random, common: &Common) -> anyhow::Result<NewUser> {
    let (zone, language) = zones::draw(random)?;
    Ok(NewUser {
        uid: Uid(uid),
        zone,
        region: Region::default(),
        language: language.parse()?,
        consent: true,
        consent_at: Some(common.since),
        devices: Vec::new(),
        name: names::draw(random, language),
    })
}

fn device(kind: &str, uid: u64, common: &Common) -> NewDevice {
    NewDevice {
        channel: common.channel.clone(),
        address: format!("demo-{kind}-{uid}"),
        registered_at: Some(common.since),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common() -> Common {
        Common { channel: "stub".parse().unwrap(), since: Instant::UNIX_EPOCH }
    }

    fn people(count: u32) -> Vec<Person> {
        let population = Population::MadeUp(count);
        (0..population.len()).map(|index| population.person(index, &common()).unwrap()).collect()
    }

    #[test]
    fn a_few_of_each_kind_are_there() {
        let people = people(10_000);
        let share = |is: fn(&Person) -> bool| people.iter().filter(|p| is(p)).count();
        for (found, hundredths) in [
            (share(|p| !p.user.consent), OPTED_OUT),
            (share(|p| p.user.devices.is_empty()), NO_DEVICE),
            (share(|p| p.steps.is_none()), NO_STEPS),
        ] {
            let wanted = usize::try_from(hundredths * 100).unwrap();
            assert!(found.abs_diff(wanted) < wanted / 3, "{found} of {wanted}");
        }
        let two = share(|p| p.user.devices.len() == 2);
        assert!((800..1_150).contains(&two), "{two}");
        assert!(people.iter().all(|p| p.user.check().is_ok() && p.steps != Some(0)));
    }

    #[test]
    fn a_larger_population_begins_with_the_smaller() {
        let (small, large) = (people(50), people(500));
        for (a, b) in small.iter().zip(&large) {
            assert!(a.user == b.user && a.steps == b.steps, "{}", a.user.uid);
        }
        let uids: Vec<_> = large.iter().map(|p| p.user.uid.0).collect();
        assert_eq!(uids, (1..=500).collect::<Vec<_>>());
    }

    #[test]
    fn the_smallest_has_somebody_to_push_to() {
        let only = people(1).remove(0);
        assert!(only.user.consent && !only.user.devices.is_empty() && only.steps.is_some());
    }

    #[test]
    fn of_real_data_everybody_is_due() {
        let population = Population::Real(RealData { users: (0..3_000).map(|uid| (uid, 0)).collect() });
        for index in 0..3_000 {
            let person = population.person(index, &common()).unwrap();
            assert!(person.user.consent && person.user.devices.len() == 1);
            assert_eq!((person.user.uid.0, person.steps), (u64::try_from(index).unwrap(), Some(0)));
        }
    }
}
