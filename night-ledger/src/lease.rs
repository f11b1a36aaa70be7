/// Who holds a lease: a number drawn at random at the start of a process or of the work on a delivery. 0 is nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub u64);

/// An answer to the wish for a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardLease {
    /// Held by the asker, under this epoch.
    Held(u64),
    /// Held by another.
    Taken,
}

/// Processes that work side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Those that own shards.
    Schedulers,
    /// Those that share the channels' quotas.
    Senders,
}
