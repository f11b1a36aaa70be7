use plumbing::Span;
use serde::{Deserialize, Serialize};

/// Settings of the sender, section `[sender]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Settings {
    /// Batches a channel works on at once, 1 to 1,000.
    pub batches_at_once: usize,
    /// Users of a batch in flight unrecorded, 1 to 1,000: after a kill at most `chunk` x `batches_at_once` pushes
    /// can be repeated a channel.
    pub chunk: usize,
    /// Tries of a push before it is given up as dead, 1 to 15.
    pub attempts: u8,
    /// Term of the lease on a batch (real time), `1s` to `1h`; longer than a push may take with `quota_wait` before it.
    pub lease: Span,
    /// Steps of the delay ladder (real time), rising, 1 to 16 of them, `1ms` to `6h`.
    pub ladder: Vec<Span>,
    /// Wait before the second try; it doubles with each further one.
    pub backoff: Span,
    /// The longest wait before a try, unless the provider asked for more.
    pub longest_backoff: Span,
    /// How long a chunk may wait for quota before its batch goes back into the ladder.
    pub quota_wait: Span,
}
