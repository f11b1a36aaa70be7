use std::num::NonZeroU32;

use plumbing::Span;
use serde::{Deserialize, Serialize};

/// Settings of the scheduler, section `[scheduler]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Settings {
    /// Shards of nights not sealed yet: N of `uid % N`, 1 to 4,096.
    pub shards: NonZeroU32,
    /// How long before a seal fires it is made, `0s` to `1h`.
    pub prepare_ahead: Span,
    /// Term of a lease on a shard, `1s` to `1m`; others take over when it ran out.
    pub lease: Span,
    /// The most batches handed to the queue at once, 1 to 10,000: bounds what waits for confirms.
    pub publish_at_once: usize,
}
