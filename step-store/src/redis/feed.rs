use bytes::Bytes;
use domain::Instant;
use plumbing::{Command, Redis};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    keys::Keys,
    scripts::{FREEZE, OUTBOX, POSITION, POSTED},
};
use crate::{Outbox, PARTS, Position, Posting, StoreError, bounds::check_part};

pub(super) async fn freeze(redis: &Redis, to: Instant) -> Result<(), StoreError> {
    let raise = |part| FREEZE.call(&[Keys::of(redis, part).frozen()]).arg(to.timestamp_millis());
    redis.write_all::<u8>((0..PARTS).map(raise).collect()).await?;
    Ok(())
}

pub(super) async fn frozen_to(redis: &Redis) -> Result<Option<Instant>, StoreError> {
    let get = |part| Command::new("GET").key(Keys::of(redis, part).frozen());
    let marks = redis.read_all::<Option<i64>>((0..PARTS).map(get).collect()).await?;
    // none is less than any
    let lowest = marks.into_iter().min().flatten();
    let instant = |ms| {
        Instant::from_timestamp_millis(ms).ok_or_else(|| {
            StoreError::corrupt("a watermark of the step store", format!("{ms} ms is no instant"))
        })
    };
    lowest.map(instant).transpose()
}

pub(super) async fn outbox(redis: &Redis, part: u32) -> Result<Outbox, StoreError> {
    check_part(part)?;
    let keys = Keys::of(redis, part);
    let answer = redis.read::<Vec<Vec<u8>>>(OUTBOX.call(&[keys.feed(), keys.outbox()])).await?;
    let mut answer = answer.into_iter();
    let mut number = || std::str::from_utf8(&answer.next()?).ok()?.parse::<u64>().ok();
    let (Some(last), Some(posted)) = (number(), number()) else { return Err(no_number()) };
    let postings: Vec<_> = answer.map(|bytes| Posting::new(Bytes::from(bytes))).collect();
    let first = (last + 1).saturating_sub(postings.len() as u64);
    Ok(Outbox { first, postings, posted, last })
}

pub(super) async fn posted(redis: &Redis, part: u32, upto: u64) -> Result<(), StoreError> {
    check_part(part)?;
    let keys = Keys::of(redis, part);
    redis.write::<u8>(POSTED.call(&[keys.feed(), keys.outbox()]).arg(upto)).await?;
    Ok(())
}

pub(super) async fn position(redis: &Redis, part: u32) -> Result<Position, StoreError> {
    check_part(part)?;
    let (id, last) = redis.read::<(String, u64)>(POSITION.call(&[Keys::of(redis, part).feed()])).await?;
    Ok(Position { lineage: xxh3_64(id.as_bytes()), last })
}

fn no_number() -> StoreError {
    StoreError::corrupt("the outbox of the step store", "its numbers are none")
}
