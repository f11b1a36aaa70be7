use std::collections::{BTreeMap, btree_map::Entry};

use domain::{Day, Instant};
use plumbing::{Command, Redis, StoreError};

use super::{found::Found, going::Going, keys, load::Load};
use crate::{Report, Reported, work::units};

/// How often a unit is worked out again because somebody else wrote its pages meanwhile. Each time one of all got through.
const MOST_GOES: u32 = 200;

/// The most pages that one command reads.
const MOST_FIELDS: usize = 500;

/// Takes the reports of a call and answers each in its place.
pub(super) async fn report(
    redis: &Redis,
    reports: Vec<Report>,
    now: Instant,
) -> Result<Vec<Reported>, StoreError> {
    let mut answers: Vec<(usize, Reported)> = Vec::with_capacity(reports.len());
    let mut going: Vec<_> = units(reports).into_iter().map(Going::new).collect();
    read(redis, &mut going).await?;
    for _ in 0..MOST_GOES {
        going.iter_mut().for_each(Going::work);
        let (over, left): (Vec<_>, Vec<_>) = going.into_iter().partition(Going::is_over);
        answers.extend(over.iter().flat_map(Going::answers));
        going = write(redis, left, &mut answers, now).await?;
        if going.is_empty() {
            answers.sort_unstable_by_key(|(place, _)| *place);
            return Ok(answers.into_iter().map(|(_, answer)| answer).collect());
        }
    }
    Err(StoreError::Unavailable("others write the same pages of the step store all the time".to_owned()))
}

/// Reads the values of the pages.
async fn read(redis: &Redis, going: &mut [Going]) -> Result<(), StoreError> {
    let mut wanted = BTreeMap::<(u32, Day), Vec<usize>>::new();
    for (at, one) in going.iter().enumerate() {
        one.unit
            .days()
            .into_iter()
            .for_each(|day| wanted.entry((one.unit.part(), day)).or_default().push(at));
    }
    let wanted: Vec<_> = wanted
        .iter()
        .flat_map(|(from, all)| all.chunks(MOST_FIELDS).map(move |places| (*from, places)))
        .collect();
    let ask = wanted.iter().map(|((part, day), places)| {
        let command = Command::new("HMGET").key(keys::pages(redis, *part, *day));
        places.iter().fold(command, |command, at| command.arg(going[*at].unit.page))
    });
    let answers = redis.read_all::<Vec<Option<Vec<u8>>>>(ask.collect()).await?;
    for (((_, day), places), values) in wanted.into_iter().zip(answers) {
        for (at, value) in places.iter().zip(values) {
            if let Some(value) = value {
                going[*at].held.insert(day, value);
            }
        }
    }
    Ok(())
}

/// Writes what is worked out, gathers the answers of what is written, and gives back the rest with what was found.
async fn write(
    redis: &Redis,
    going: Vec<Going>,
    answers: &mut Vec<(usize, Reported)>,
    now: Instant,
) -> Result<Vec<Going>, StoreError> {
    let (mut full, mut open) = (Vec::new(), BTreeMap::<u32, (Load, Vec<Going>)>::new());
    for one in going {
        let part = one.unit.part();
        let mut to = match open.entry(part) {
            Entry::Occupied(held) => held,
            Entry::Vacant(place) => place.insert_entry((Load::new(redis, part), Vec::new())),
        };
        let (load, units) = to.get_mut();
        one.load(redis, load, now);
        units.push(one);
        if load.is_full() {
            full.push(to.remove());
        }
    }
    full.extend(open.into_values());
    let (loads, sent): (Vec<_>, Vec<_>) = full.into_iter().unzip();
    let found = redis.write_all::<Vec<Found>>(loads.into_iter().map(Load::command).collect()).await?;
    let mut left = Vec::new();
    for (units, found) in sent.into_iter().zip(found) {
        if units.len() != found.len() {
            return Err(StoreError::corrupt(
                "an answer of redis",
                "it has more or fewer units than were written",
            ));
        }
        for (mut one, found) in units.into_iter().zip(found) {
            if found.nothing() {
                answers.extend(one.answers());
            } else {
                one.learn(found);
                left.push(one);
            }
        }
    }
    Ok(left)
}
