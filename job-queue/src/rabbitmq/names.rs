use std::time::Duration;

use domain::ChannelName;

use crate::StoreError;

/// The names of the queues. A channel's name has no dot, so that none of them is another's.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
}

/// What follows the prefix of the dead letters. No channel can have that name.
const DEAD: &str = "dead";

impl Names {
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// `<prefix>.<channel>`: what waits for a sender.
    pub(super) fn work(&self, channel: &ChannelName) -> Result<String, StoreError> {
        match channel.as_str() {
            DEAD => Err(StoreError::corrupt("channel", "\"dead\" is the name of the dead letters' queue")),
            name => Ok(format!("{}.{name}", self.prefix)),
        }
    }

    /// `<prefix>.<channel>.wait.<ms>`: what waits for its time.
    pub(super) fn wait(&self, channel: &ChannelName, step: Duration) -> Result<String, StoreError> {
        Ok(format!("{}.wait.{}", self.work(channel)?, step.as_millis()))
    }

    /// `<prefix>.dead`: the dead letters of all channels.
    pub(super) fn dead(&self) -> String {
        format!("{}.{DEAD}", self.prefix)
    }

    /// `<prefix>.dead.reader`: whoever has it reads the dead letters.
    pub(super) fn reader(&self) -> String {
        format!("{}.{DEAD}.reader", self.prefix)
    }

    /// The channel of a queue's name.
    pub(super) fn channel(&self, queue: &str) -> Option<ChannelName> {
        let rest = queue.strip_prefix(&self.prefix)?.strip_prefix('.')?;
        let (name, _) = rest.split_once('.').unwrap_or((rest, ""));
        name.parse().ok().filter(|_| name != DEAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_s_name_tells_its_channel() {
        let names = Names::new("step.cast");
        let channel: ChannelName = "web-push".parse().unwrap();
        assert_eq!(names.work(&channel).unwrap(), "step.cast.web-push");
        let wait = names.wait(&channel, Duration::from_secs(1)).unwrap();
        assert_eq!(wait, "step.cast.web-push.wait.1000");
        for queue in ["step.cast.web-push", &wait] {
            assert_eq!(names.channel(queue), Some(channel.clone()));
        }
        for queue in
            [names.dead().as_str(), "other.web-push", "step.cast", "step.castweb-push", "step.cast.A"]
        {
            assert_eq!(names.channel(queue), None, "{queue}");
        }
        assert!(names.work(&"dead".parse().unwrap()).is_err());
    }
}
