//! What is said to the servers. Each command keeps to one part, and so to one slot.

use std::sync::LazyLock;

use domain::Uid;
use plumbing::{Command, Redis, Script};

use super::keys::Keys;
use crate::{
    Position,
    edit::Write,
    log::{KEPT, part_of},
};

static READ: LazyLock<Script> =
    LazyLock::new(|| Script::new("the directory's read", include_str!("read.lua")));
static WRITE: LazyLock<Script> =
    LazyLock::new(|| Script::new("the directory's write", include_str!("write.lua")));
static CHANGED: LazyLock<Script> =
    LazyLock::new(|| Script::new("the directory's changed", include_str!("changed.lua")));

/// A page and records in it: answers the page's bytes, then the records.
pub(super) fn read(redis: &Redis, page: u32, uids: &[Uid]) -> Command {
    let keys = Keys::of(redis, part_of(page));
    let records = uids.iter().map(|uid| keys.record(*uid));
    READ.call(&std::iter::once(keys.pages()).chain(records).collect::<Vec<_>>()).arg(page)
}

/// Writes what came of an edit: answers 1, or 0 where the page is another one by now.
pub(super) fn write(redis: &Redis, write: &Write) -> Command {
    let keys = Keys::of(redis, part_of(write.page));
    let records = write.records.iter().map(|(uid, _)| keys.record(*uid));
    let all: Vec<_> =
        [keys.pages(), keys.log(), keys.head(), keys.zones()].into_iter().chain(records).collect();
    let over = write.over.map(u64::to_le_bytes);
    let mut command = WRITE
        .call(&all)
        .arg(write.page)
        .arg(over.as_ref().map_or(&[][..], |stamp| &stamp[..]))
        .arg(write.bytes.as_deref().unwrap_or_default())
        .arg(&write.stamp.to_le_bytes()[..])
        .arg(if write.turned { KEPT } else { 0 })
        .arg(write.zones.len());
    for (zone, now, once) in &write.zones {
        command = command.arg(zone.name()).arg(*now).arg(*once);
    }
    write
        .records
        .iter()
        .fold(command, |command, (_, record)| command.arg(record.as_deref().unwrap_or_default()))
}

/// What changed in a part: answers number, mark, whether it is whole, then the pages.
pub(super) fn changed(redis: &Redis, part: u32, since: Position) -> Command {
    let keys = Keys::of(redis, part);
    CHANGED
        .call(&[keys.pages(), keys.log(), keys.head()])
        .arg(since.number)
        .arg(format!("{:016x}", since.mark))
}

/// Pages of a part.
pub(super) fn pages(redis: &Redis, part: u32, numbers: &[u32]) -> Command {
    let command = Command::new("HMGET").key(Keys::of(redis, part).pages());
    numbers.iter().fold(command, |command, number| command.arg(*number))
}

/// The counts by zone of a part.
pub(super) fn zones(redis: &Redis, part: u32) -> Command {
    Command::new("HGETALL").key(Keys::of(redis, part).zones())
}

#[cfg(test)]
#[path = "commands/tests.rs"]
mod tests;
