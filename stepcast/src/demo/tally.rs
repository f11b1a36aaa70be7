use domain::{Night, SealKey, Shard, Uid};
use night_ledger::{Seal, State};
use sender::Parts;

/// What the claims of a night tell beside its sums.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Users delivered, by the attempt that did it: the first place is the first attempt.
    pub(super) by_attempt: Vec<u64>,
    /// A user to show: one who was delivered at a later attempt if there is one, else any who was delivered.
    pub(super) example: Option<Example>,
}

/// A delivered user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Example {
    /// Who.
    pub(super) uid: Uid,
    /// At which attempt.
    pub(super) attempt: u8,
}

/// Claims read at once.
const PIECE: usize = 10_000;

/// Reads the claims of a whole night.
pub(super) async fn tally(parts: &Parts, night: &Night) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let n = parts.ledger.shard_count(night, std::num::NonZeroU32::MIN).await?;
    for shard in Shard::all(n) {
        for (key, _) in parts.ledger.seals(night, shard).await? {
            if let Some(seal) = parts.ledger.sealed(&key).await? {
                count(parts, &key, &seal, &mut tally).await?;
            }
        }
    }
    Ok(tally)
}

impl Tally {
    fn delivered(&mut self, uid: Uid, attempt: u8) {
        let place = usize::from(attempt.saturating_sub(1));
        if self.by_attempt.len() <= place {
            self.by_attempt.resize(place + 1, 0);
        }
        self.by_attempt[place] += 1;
        // a second try is told in a line; more would be an odd example
        let better = self.example.is_none_or(|held| held.attempt != 2 && attempt == 2);
        if better {
            self.example = Some(Example { uid, attempt });
        }
    }
}

async fn count(parts: &Parts, key: &SealKey, seal: &Seal, tally: &mut Tally) -> anyhow::Result<()> {
    let all: Vec<u32> = (0u32..).take(seal.due.len()).collect();
    for (positions, users) in all.chunks(PIECE).zip(seal.due.chunks(PIECE)) {
        let held = parts.ledger.claims(key, positions).await?;
        for (held, user) in held.iter().zip(users) {
            if let State::Delivered(attempt) = held.claim.state() {
                tally.delivered(user.uid, attempt);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_of_the_second_attempt_is_the_best_example() {
        let mut tally = Tally::default();
        for (uid, attempt) in [(1, 1), (2, 3), (3, 2), (4, 2), (5, 1)] {
            tally.delivered(Uid(uid), attempt);
        }
        assert_eq!(tally.by_attempt, [2, 2, 1]);
        assert_eq!(tally.example, Some(Example { uid: Uid(3), attempt: 2 }));
    }
}
