use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use domain::ChannelName;

/// How a channel's queue is consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consuming {
    /// A consumer is attached.
    Attached,
    /// None, by will: there is no share of the channel's quota, or the guard is shut.
    Resting,
    /// None, since then, and one is wanted: the sender is not ready.
    Away(Instant),
}

/// The same for all channels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consumers(Arc<Mutex<BTreeMap<ChannelName, Consuming>>>);

impl Consumers {
    pub(crate) fn all(&self) -> BTreeMap<ChannelName, Consuming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a change; one that is away stays away since when it was.
    pub(crate) fn set(&self, channel: &ChannelName, now: Consuming) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = all.entry(channel.clone()).or_insert(now);
        if !matches!((&held, now), (Consuming::Away(_), Consuming::Away(_))) {
            *held = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn away_counts_from_when_it_began() {
        let consumers = Consumers::default();
        let channel: ChannelName = "stub".parse().unwrap();
        let began = Instant::now();
        for at in [began, began + Duration::from_secs(9)] {
            consumers.set(&channel, Consuming::Away(at));
            assert_eq!(consumers.all()[&channel], Consuming::Away(began));
        }
        for now in [Consuming::Attached, Consuming::Away(began + Duration::from_secs(20)), Consuming::Resting]
        {
            consumers.set(&channel, now);
            assert_eq!(consumers.all()[&channel], now);
        }
    }
}
