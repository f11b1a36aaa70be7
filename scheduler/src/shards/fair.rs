use domain::Shard;
use night_ledger::Owner;

/// The schedulers that live, and whose each shard is among them: of all of them the one with the highest
/// `xxh3_64(owner, shard)`, both little-endian (rendezvous hashing). All that see the same ones agree, each has about as many
/// as any other, and when one comes or goes only its own shards move.
#[derive(Debug)]
pub(super) struct Live {
    owner: Owner,
    /// By number; empty before the first answer.
    all: Vec<Owner>,
}

impl Live {
    pub(super) fn new(owner: Owner) -> Self {
        Self { owner, all: Vec::new() }
    }

    /// Notes who lives.
    pub(super) fn set(&mut self, all: Vec<Owner>) {
        self.all = all;
    }

    /// Whether it was ever answered.
    pub(super) fn known(&self) -> bool {
        !self.all.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether a shard is this scheduler's; none is before it is known who lives.
    pub(super) fn owns(&self, shard: Shard) -> bool {
        let best = self.all.iter().max_by_key(|owner| (weight(**owner, shard), owner.0));
        best == Some(&self.owner)
    }
}

fn weight(owner: Owner, shard: Shard) -> u64 {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&owner.0.to_le_bytes());
    key[8..].copy_from_slice(&shard.0.to_le_bytes());
    xxhash_rust::xxh3::xxh3_64(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(all: &[u64], owner: u64) -> Vec<u32> {
        let live = Live { owner: Owner(owner), all: all.iter().copied().map(Owner).collect() };
        (0..4_096).filter(|&shard| live.owns(Shard(shard))).collect()
    }

    #[test]
    fn each_shard_is_one_schedulers_and_all_have_about_as_many() {
        let all = [3, 77, 1_000, u64::MAX];
        let shares: Vec<_> = all.iter().map(|&owner| owned(&all, owner)).collect();
        assert!(shares.iter().all(|s| (900..1_150).contains(&s.len())), "{shares:?}");
        let mut together: Vec<_> = shares.concat();
        together.sort_unstable();
        assert_eq!(together, (0..4_096).collect::<Vec<_>>());
        assert!(owned(&[], 3).is_empty() && owned(&[3, 77], 5).is_empty());
    }

    #[test]
    fn only_the_shards_of_who_goes_move() {
        let before = owned(&[3, 77, 1_000], 3);
        let after = owned(&[3, 77], 3);
        assert!(before.iter().all(|shard| after.contains(shard)));
        let gone = owned(&[3, 77, 1_000], 1_000);
        assert!(after.iter().all(|shard| before.contains(shard) || gone.contains(shard)));
    }
}
