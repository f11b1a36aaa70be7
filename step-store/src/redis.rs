use std::{collections::HashMap, sync::LazyLock};

use async_trait::async_trait;
use domain::{Day, Uid};
use plumbing::{Command, EntryKeys, Redis, Script};

use crate::{Add, Added, MOST_ADDS, MOST_STEPS, StepStore, StoreError};

/// Parts that entries are dealt to, by pages of 256 neighbouring uids: part `(uid >> 8) % 64`. Written into every key.
const PARTS: u64 = 64;

/// The most entries one script adds to, so that none holds up the server for long.
const MOST_IN_SCRIPT: usize = 256;

/// What the script answers for an add that would pass the limit.
const TOO_MANY: i64 = -1;

/// Adds to entries, in order, each add whole or not at all. The answer is the sum after each add, or [`TOO_MANY`].
/// Nothing is written before all is known.
static ADD: LazyLock<Script> = LazyLock::new(|| Script::new("steps.add", include_str!("redis/add.lua")));

/// The step store on Redis.
///
/// An entry is the key `{prefix}:{region}:{s.<part>}:steps:<day>:<uid>` with the steps as decimal digits. It has no
/// time to live: it goes when its `Day` is archived.
pub struct RedisSteps {
    redis: Redis,
}

/// Entries of one script and what is added to them.
#[derive(Default)]
struct Load {
    keys: Vec<String>,
    /// For each add: its place in the call, the number of its key from 1, the steps.
    adds: Vec<(usize, usize, u32)>,
}

impl RedisSteps {
    /// The step store of a server or cluster.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    fn entry(&self, uid: Uid, day: Day) -> String {
        self.redis.key(format_args!("s.{}", part(uid)), format_args!("steps:{day}:{uid}"))
    }

    fn entries(&self, uids: &[Uid], day: Day) -> EntryKeys {
        let mut keys = self.redis.entry_keys("s", format_args!("steps:{day}:"), uids.len());
        uids.iter().for_each(|uid| keys.push(part(*uid), uid.0));
        keys
    }

    /// The adds by script: those to one entry are in one, in their order.
    fn loads(&self, adds: &[Add]) -> Vec<Load> {
        let mut full = Vec::new();
        let mut open: HashMap<u64, Load> = HashMap::new();
        let mut places: HashMap<(Uid, Day), Vec<(usize, u32)>> = HashMap::new();
        let mut order = Vec::new();
        for (at, add) in adds.iter().enumerate() {
            let entry = places.entry((add.uid, add.day)).or_insert_with(|| {
                order.push((add.uid, add.day));
                Vec::new()
            });
            entry.push((at, add.steps));
        }
        for (uid, day) in order {
            let load = open.entry(part(uid)).or_default();
            load.keys.push(self.entry(uid, day));
            let number = load.keys.len();
            let of_entry = places.remove(&(uid, day)).unwrap_or_default();
            load.adds.extend(of_entry.into_iter().map(|(at, steps)| (at, number, steps)));
            if number == MOST_IN_SCRIPT {
                full.push(std::mem::take(load));
            }
        }
        full.extend(open.into_values().filter(|load| !load.keys.is_empty()));
        full
    }
}

#[async_trait]
impl StepStore for RedisSteps {
    async fn add(&self, adds: Vec<Add>) -> Result<Vec<Added>, StoreError> {
        if adds.len() > MOST_ADDS {
            return Err(StoreError::Full { what: "a call that adds steps", limit: MOST_ADDS as u64 });
        }
        let loads = self.loads(&adds);
        let answers = self.redis.write_all::<Vec<i64>>(loads.iter().map(script).collect()).await?;
        let mut added = vec![None; adds.len()];
        for (load, sums) in loads.iter().zip(answers) {
            for ((at, ..), sum) in load.adds.iter().zip(sums) {
                added[*at] = answer(sum);
            }
        }
        added.into_iter().map(|one| one.ok_or_else(|| unreadable("an add got no sum"))).collect()
    }

    async fn read(&self, uid: Uid, day: Day) -> Result<u32, StoreError> {
        let get = Command::new("GET").key(self.entry(uid, day));
        Ok(self.redis.read::<Option<u32>>(get).await?.unwrap_or(0))
    }

    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<u32>, StoreError> {
        let values = self.redis.read_values(&self.entries(uids, day)).await?;
        values.iter().map(|value| value.as_deref().map_or(Ok(0), number)).collect()
    }
}

fn part(uid: Uid) -> u64 {
    (uid.0 >> 8) % PARTS
}

fn script(load: &Load) -> Command {
    let command = ADD.call(&load.keys).arg(MOST_STEPS);
    load.adds.iter().fold(command, |command, (_, number, steps)| command.arg(*number).arg(*steps))
}

fn answer(sum: i64) -> Option<Added> {
    match sum {
        TOO_MANY => Some(Added::TooMany),
        sum => u32::try_from(sum).ok().map(Added::Stored),
    }
}

/// The steps of an entry.
fn number(digits: &[u8]) -> Result<u32, StoreError> {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| unreadable("it is no number of steps"))
}

fn unreadable(detail: &str) -> StoreError {
    StoreError::corrupt("an entry of the step store", detail)
}

#[cfg(test)]
mod tests {
    use plumbing::RedisSettings;

    use super::*;

    fn store() -> RedisSteps {
        let settings = RedisSettings::at(vec!["redis://127.0.0.1:1".to_owned()], "t");
        RedisSteps::new(Redis::new(&settings).unwrap())
    }

    fn day() -> Day {
        "20260607".parse().unwrap()
    }

    #[test]
    fn an_entry_has_the_documented_key() {
        assert_eq!(store().entry(Uid(1_001), day()), "t:main:{s.3}:steps:20260607:1001");
        let uids = [Uid(1_001), Uid(u64::MAX)];
        let many = store().entries(&uids, day());
        assert!(many.iter().eq(uids.iter().map(|uid| store().entry(*uid, day()).into_bytes())));
        assert_eq!(store().entry(Uid(u64::MAX), day()), "t:main:{s.63}:steps:20260607:18446744073709551615");
    }

    #[test]
    fn every_command_stays_in_one_slot_and_below_its_bound() {
        let store = store();
        let uids: Vec<_> = (0..40_000).step_by(3).map(Uid).collect();
        let adds: Vec<_> = uids.iter().map(|uid| Add { uid: *uid, day: day(), steps: 1 }).collect();
        let loads = store.loads(&adds);
        assert!(loads.iter().all(|load| script(load).slot().is_some() && load.keys.len() <= MOST_IN_SCRIPT));
        assert_eq!(loads.iter().map(|load| load.adds.len()).sum::<usize>(), uids.len());
    }

    #[test]
    fn adds_to_one_entry_go_in_one_script_in_their_order() {
        let add = |uid, steps| Add { uid: Uid(uid), day: day(), steps };
        let loads = store().loads(&[add(1, 5), add(300, 6), add(1, 7), add(2, 8), add(1, 9)]);
        let first = loads.iter().find(|load| load.keys[0].contains("{s.0}")).unwrap();
        assert_eq!(first.adds, [(0, 1, 5), (2, 1, 7), (4, 1, 9), (3, 2, 8)]);
        assert_eq!((loads.len(), first.keys.len()), (2, 2));
    }
}
