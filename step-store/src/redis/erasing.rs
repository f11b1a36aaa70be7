use domain::{Day, Uid};
use plumbing::{Command, Redis, StoreError};

use super::{
    days,
    found::Found,
    keys,
    load::{Load, Put, Written},
    scripts::ERASED,
    value,
};
use crate::{
    erased::REFUSED,
    ids::Epoch,
    outbox::unreadable,
    page::{BadPage, Page},
    part,
    posting::put_changes,
};

/// How often the pages are read again because others write them meanwhile.
const MOST_GOES: u32 = 200;

/// Erases a user: first the mark that refuses reports under way, then the entries, then the ids.
pub(super) async fn erase(redis: &Redis, uid: Uid) -> Result<(), StoreError> {
    let part = part(uid);
    let mark =
        ERASED.call(&[keys::erased(redis, part)]).arg(&uid.0.to_le_bytes()).arg(REFUSED.as_secs() * 1_000);
    redis.write::<u8>(mark).await?;
    let days = days(redis, part).await?;
    let unread = erase_entries(redis, uid, &days).await?;
    let mut epochs: Vec<_> = days.iter().map(|day| Epoch::of(*day)).collect();
    epochs.dedup();
    if !epochs.is_empty() {
        let keys = epochs.into_iter().map(|epoch| keys::ids(redis, uid, epoch));
        redis.write::<u64>(keys.fold(Command::new("UNLINK"), Command::key)).await?;
    }
    unread.map_or(Ok(()), |bad| Err(unreadable(bad)))
}

/// Takes a user out of every page; why one could not be read, if one could not.
async fn erase_entries(redis: &Redis, uid: Uid, days: &[Day]) -> Result<Option<BadPage>, StoreError> {
    let (part, number) = (part(uid), Page::number_of(uid));
    for _ in 0..MOST_GOES {
        let ask = days.iter().map(|day| Command::new("HGET").key(keys::pages(redis, part, *day)).arg(number));
        let held = redis.read_all::<Option<Vec<u8>>>(ask.collect()).await?;
        let (mut load, mut posting, mut puts, mut unread) =
            (Load::new(redis, part), Vec::new(), Vec::new(), None);
        for (day, held) in days.iter().zip(&held) {
            let Some(held) = held else { continue };
            match value::page(held) {
                Ok(mut page) => {
                    if page.remove(uid) {
                        let revision = value::revision(Some(held));
                        let key = load.key(keys::pages(redis, part, *day));
                        let value = value::next(revision, &page);
                        puts.push(Put { key, day: *day, page: number, revision: revision.to_vec(), value });
                        put_changes(&mut posting, *day, uid, &[(uid, None)]);
                    }
                }
                Err(bad) => unread = Some(bad),
            }
        }
        if puts.is_empty() {
            return Ok(unread);
        }
        load.push(Written {
            freezes: None,
            posting,
            users: Vec::new(),
            puts,
            asks: Vec::new(),
            adds: Vec::new(),
        });
        if redis.write::<Vec<Found>>(load.command()).await?.iter().all(Found::nothing) {
            return Ok(unread);
        }
    }
    Err(StoreError::Unavailable("others write the same pages of the step store all the time".to_owned()))
}
