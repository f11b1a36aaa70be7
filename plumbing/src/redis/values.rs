use std::collections::BTreeMap;

use ::redis::Value;

use super::{Command, EntryKeys, Redis, redis_slot, unreadable};
use crate::StoreError;

/// The most keys that one command reads, so that none holds up the server for long.
const KEYS: usize = 500;

/// A command, and which of the keys asked for it reads.
type Ask = (Command, Vec<usize>);

impl Redis {
    /// The values of many keys, in the order of the keys; `None` where there is none, or one that is no string.
    ///
    /// A single server is asked for keys of any slots together, since it has them all; a cluster slot by slot.
    pub async fn read_values(&self, keys: &EntryKeys) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let asked = if self.0.topology.cluster { by_slot(keys) } else { together(keys) };
        let (commands, places): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let answers = self.read_all::<Value>(commands).await?;
        let mut values = vec![None; keys.len()];
        for (places, answer) in places.into_iter().zip(answers) {
            let Value::Array(found) = answer else { return Err(unreadable("it is no list of values")) };
            if found.len() != places.len() {
                return Err(unreadable("more or fewer values than were asked for"));
            }
            for (place, value) in places.into_iter().zip(found) {
                values[place] = match value {
                    Value::Nil => None,
                    Value::BulkString(bytes) => Some(bytes),
                    _ => return Err(unreadable("a value is no string")),
                };
            }
        }
        Ok(values)
    }
}

/// For a single server. The keys are given as arguments: they need not lie in one slot.
fn together(keys: &EntryKeys) -> Vec<Ask> {
    let mut left = keys.iter();
    let places: Vec<_> = (0..keys.len()).collect();
    let ask = |places: &[usize]| left.by_ref().take(places.len()).fold(Command::new("MGET"), Command::arg);
    let commands: Vec<_> = places.chunks(KEYS).map(ask).collect();
    commands.into_iter().zip(places.chunks(KEYS).map(<[_]>::to_vec)).collect()
}

/// For a cluster.
fn by_slot(keys: &EntryKeys) -> Vec<Ask> {
    let keys: Vec<_> = keys.iter().collect();
    let mut slots = BTreeMap::<_, Vec<_>>::new();
    for (place, key) in keys.iter().enumerate() {
        slots.entry(redis_slot(key)).or_default().push(place);
    }
    let ask = |places: &[usize]| {
        let command = Command::new("MGET");
        places.iter().fold(command, |command, place| command.key(keys[*place]))
    };
    slots
        .values()
        .flat_map(|places| places.chunks(KEYS))
        .map(|places| (ask(places), places.to_vec()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::command::Place::{self, NoKey},
        *,
    };
    use crate::RedisSettings;

    fn keys(count: u64) -> EntryKeys {
        let settings = RedisSettings::at(vec!["redis://127.0.0.1:1".into()], "app");
        let mut keys = Redis::new(&settings).unwrap().entry_keys("d", "u:", 0);
        (0..count).for_each(|n| keys.push(n % 5, n));
        keys
    }

    fn places(asked: &[Ask]) -> Vec<usize> {
        let mut places: Vec<_> = asked.iter().flat_map(|(_, places)| places.clone()).collect();
        places.sort_unstable();
        places
    }

    /// By the CRC16 of every key.
    #[test]
    fn on_a_cluster_each_command_stays_in_one_slot_and_below_its_bound() {
        let (keys, asked) = (keys(3_000), by_slot(&keys(3_000)));
        let keys: Vec<_> = keys.iter().collect();
        for (command, places) in &asked {
            let slots = places.iter().map(|place| redis_slot(keys[*place]));
            assert!(slots.into_iter().all(|slot| command.place() == Place::In(slot)));
            assert!((1..=KEYS).contains(&places.len()));
        }
        assert_eq!((asked.len(), places(&asked)), (10, (0..3_000).collect()));
    }

    #[test]
    fn a_single_server_is_asked_for_all_together_below_the_bound() {
        let asked = together(&keys(3_000));
        assert!(asked.iter().all(|(command, places)| command.place() == NoKey && places.len() <= KEYS));
        assert_eq!((asked.len(), places(&asked)), (6, (0..3_000).collect()));
        assert!(together(&keys(0)).is_empty() && by_slot(&keys(0)).is_empty());
    }
}
