use std::collections::BTreeMap;

use ::redis::Value;

use super::{Command, Redis, redis_slot, unreadable};
use crate::StoreError;

/// The most keys that one command reads, so that none holds up the server for long.
const KEYS: usize = 500;

/// A command, and which of the keys asked for it reads.
type Ask = (Command, Vec<usize>);

impl Redis {
    /// The values of many keys, in the order of the keys; `None` where there is none, or one that is no string.
    ///
    /// A single server is asked for keys of any slots together, since it has them all; a cluster slot by slot.
    pub async fn read_values(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
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
fn together(keys: &[impl AsRef<[u8]>]) -> Vec<Ask> {
    let places: Vec<_> = (0..keys.len()).collect();
    let ask = |places: &[usize]| {
        let command = Command::new("MGET");
        places.iter().fold(command, |command, place| command.arg(keys[*place].as_ref()))
    };
    places.chunks(KEYS).map(|places| (ask(places), places.to_vec())).collect()
}

/// For a cluster.
fn by_slot(keys: &[impl AsRef<[u8]>]) -> Vec<Ask> {
    let mut slots = BTreeMap::<_, Vec<_>>::new();
    for (place, key) in keys.iter().enumerate() {
        slots.entry(redis_slot(key.as_ref())).or_default().push(place);
    }
    let ask = |places: &[usize]| {
        let command = Command::new("MGET");
        places.iter().fold(command, |command, place| command.key(&keys[*place]))
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

    fn keys() -> Vec<String> {
        (0..3_000).map(|n| format!("{{d.{}}}:u:{n}", n % 5)).collect()
    }

    fn places(asked: &[Ask]) -> Vec<usize> {
        let mut places: Vec<_> = asked.iter().flat_map(|(_, places)| places.clone()).collect();
        places.sort_unstable();
        places
    }

    /// By the CRC16 of every key.
    #[test]
    fn on_a_cluster_each_command_stays_in_one_slot_and_below_its_bound() {
        let (keys, asked) = (keys(), by_slot(&keys()));
        for (command, places) in &asked {
            let slots = places.iter().map(|place| redis_slot(keys[*place].as_bytes()));
            assert!(slots.into_iter().all(|slot| command.place() == Place::In(slot)));
            assert!((1..=KEYS).contains(&places.len()));
        }
        assert_eq!((asked.len(), places(&asked)), (10, (0..3_000).collect()));
    }

    #[test]
    fn a_single_server_is_asked_for_all_together_below_the_bound() {
        let asked = together(&keys());
        assert!(asked.iter().all(|(command, places)| command.place() == NoKey && places.len() <= KEYS));
        assert_eq!((asked.len(), places(&asked)), (6, (0..3_000).collect()));
        assert!(together(&[""; 0]).is_empty() && by_slot(&[""; 0]).is_empty());
    }
}
