use domain::{Day, Uid};
use plumbing::{Command, Redis, StoreError};

use super::{keys, value};
use crate::{Read, page::Page, part};

/// The most pages that one command reads, so that none holds up the server for long.
const MOST_FIELDS: usize = 500;

/// A user who is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    part: u32,
    page: u64,
    /// The place among all.
    at: usize,
}

/// The numbers of users on one `Day`, in their order. Each page is asked for once.
pub(super) async fn read_many(redis: &Redis, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError> {
    let asked = |(at, uid): (usize, &Uid)| Asked { part: part(*uid), page: Page::number_of(*uid), at };
    let mut asked: Vec<_> = uids.iter().enumerate().map(asked).collect();
    asked.sort_unstable();
    let pieces: Vec<_> =
        asked.chunk_by(|a, b| a.part == b.part).flat_map(|part| part.chunks(MOST_FIELDS)).collect();
    let commands = pieces.iter().map(|piece| {
        let command = Command::new("HMGET").key(keys::pages(redis, piece[0].part, day));
        pages(piece).fold(command, |command, users| command.arg(users[0].page))
    });
    let answers = redis.read_all::<Vec<Option<Vec<u8>>>>(commands.collect()).await?;
    let mut read = vec![Read::Steps(0); uids.len()];
    for (piece, values) in pieces.into_iter().zip(answers) {
        for (users, held) in pages(piece).zip(values) {
            let Some(held) = held else { continue };
            for Asked { at, .. } in users {
                read[*at] = value::number(&held, uids[*at]).map_or(Read::Unreadable, Read::Steps);
            }
        }
    }
    Ok(read)
}

/// Those of each page.
fn pages(piece: &[Asked]) -> impl Iterator<Item = &[Asked]> {
    piece.chunk_by(|a, b| a.page == b.page)
}
