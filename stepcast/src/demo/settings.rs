use std::{net::SocketAddr, num::NonZeroU32, path::Path};

use config::Config;
use plumbing::Span;
use sender::channel::{Kind, StubSettings};

/// How long a push takes.
const LATENCY: Span = Span::millis(20);
/// The share of tries that fail on purpose, so that retries show: with 5 attempts one user in three million is given up.
const ERROR_RATE: f64 = 0.05;

/// The defaults, on a folder of the demo's own and without the environment: nobody's settings get into it. Only what
/// takes real time is shorter, and the channel fails some pushes.
pub(super) fn config(folder: &Path) -> anyhow::Result<Config> {
    let mut config = Config::load(None, [])?;
    config.data = folder.to_owned();
    config.rehearsal = true;
    // any free port: a demo gets into nobody's way
    config.ops.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    config.ingest.listen = config.ops.listen;
    // a few thousand users in more shards would be batches of one or two
    config.scheduler.shards = NonZeroU32::MIN;
    config.sender.ladder = vec![Span::millis(200), Span::seconds(1), Span::seconds(3)];
    // with its jitter of a fifth a first retry is still ready when the ladder's first step is over
    config.sender.backoff = Span::millis(160);
    config.sender.longest_backoff = Span::seconds(3);
    for channel in config.channels.values_mut() {
        channel.kind = Kind::Stub(StubSettings { latency: LATENCY, error_rate: ERROR_RATE });
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_default_but_for_the_real_time() {
        let (demo, defaults) = (config(Path::new("x")).unwrap(), Config::load(None, []).unwrap());
        assert_eq!((demo.data.as_path(), demo.ops.listen.port()), (Path::new("x"), 0));
        assert_eq!(demo.sender.attempts, 5);
        assert_eq!(demo.sender.chunk, defaults.sender.chunk);
        assert_eq!(demo.sender.batches_at_once, defaults.sender.batches_at_once);
        assert_eq!(demo.campaigns[0].campaign.name.as_str(), "nightly");
        assert_eq!(demo.campaigns[0].campaign.window, 60);
        assert!(demo.channels.values().all(|c| c.faults().is_empty()));
    }
}
