//! Whether the queues are in reach of this sender.
//!
//! One that is cut off from the queue's broker and not from the ledger would keep its share of every quota and use
//! nothing of it; of a small quota there may be no other share. So it leaves the group while every channel with a quota
//! has been without a consumer for [`LOST`] although one is wanted, goes on trying to attach one, and joins again when it
//! could.

use std::time::Duration;

use super::{TERM, shared};
use crate::{
    Consuming,
    parts::{Line, Parts},
};

/// How long a channel is without a consumer before it counts as lost.
const LOST: Duration = TERM.saturating_mul(2);

/// Whether this channel's queue is out of reach for so long that it is not waited for.
pub(crate) fn lost(parts: &Parts, line: &Line) -> bool {
    lost_since(parts.metrics.consumers().get(&line.name).copied())
}

/// Whether all channels with a quota are out of reach, of which there is one at least.
pub(super) fn lost_all(parts: &Parts) -> bool {
    let consumers = parts.metrics.consumers();
    let mut lines = shared(parts).peekable();
    lines.peek().is_some() && lines.all(|line| lost_since(consumers.get(&line.name).copied()))
}

fn lost_since(consuming: Option<Consuming>) -> bool {
    matches!(consuming, Some(Consuming::Away(since)) if since.elapsed() > LOST)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn only_who_was_away_for_long_is_lost() {
        let ago = |time: Duration| Some(Consuming::Away(Instant::now().checked_sub(time).unwrap()));
        assert!(lost_since(ago(LOST + Duration::from_millis(1))));
        let here = [None, Some(Consuming::Attached), Some(Consuming::Resting), ago(LOST / 2)];
        assert!(here.into_iter().all(|consuming| !lost_since(consuming)));
    }
}
