use domain::{Day, Instant, Uid};
use plumbing::{Command, Redis};

use super::{
    keys::Keys,
    reading::{self, split},
    reporting::{Found, Writing, command},
    scripts::ERASED,
};
use crate::{StoreError, bounds::ERASED_FOR, ids::Epoch, page::Page, part, work::Work};

/// How often a page is worked out again because others changed it in between.
const MOST_GOES: usize = 100;

/// Reports of the user are refused from the first step on, so that nothing comes back meanwhile.
pub(super) async fn erase(redis: &Redis, uid: Uid) -> Result<(), StoreError> {
    let keys = Keys::of(redis, part(uid));
    redis.write::<u8>(ERASED.call(&[keys.erased()]).arg(uid.0).arg(ERASED_FOR * 1_000)).await?;
    let days = reading::days(redis, part(uid)).await?;
    for day in &days {
        take_out(redis, uid, *day).await?;
    }
    let mut epochs: Vec<_> = days.iter().flat_map(|day| Epoch::each(Epoch::around(*day))).collect();
    epochs.sort_unstable();
    epochs.dedup();
    let unlink = |epoch: &Epoch| Command::new("UNLINK").key(keys.ids(*epoch, uid));
    redis.write_all::<u64>(epochs.iter().map(unlink).collect()).await?;
    Ok(())
}

async fn take_out(redis: &Redis, uid: Uid, day: Day) -> Result<(), StoreError> {
    let (keys, number) = (Keys::of(redis, part(uid)), Page::number_of(uid));
    for _ in 0..MOST_GOES {
        let get = Command::new("GET").key(keys.page(day, number));
        let Some(value) = redis.read::<Option<Vec<u8>>>(get).await? else { return Ok(()) };
        let page = split(&value).and_then(|(revision, bytes)| Some((revision, Page::decode(bytes).ok()?)));
        let (revision, mut page) = page.ok_or_else(|| {
            StoreError::corrupt(
                "a page of the step store",
                format!("page {number} of {day}: user {uid} is in it"),
            )
        })?;
        if !page.remove(uid) {
            return Ok(());
        }
        let mut work = Work::default();
        work.pages.insert(day, page);
        work.changes.insert(day, vec![(uid, None)]);
        let revisions = [(day, revision)].into();
        let writing = Writing { number, revisions: &revisions, work: &work, sets: &[], freezes: None };
        // there are no ids in it, whose life hangs on the time
        let write = command(redis, part(uid), &[writing], Instant::UNIX_EPOCH);
        if redis.write::<Vec<Found>>(write).await?.iter().all(Vec::is_empty) {
            return Ok(());
        }
    }
    Err(StoreError::Unavailable(
        "a page of the step store is being changed by others all the time".to_owned(),
    ))
}
