use config::{Log, LogFormat};
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

/// Starts the log on standard error. Called once, before anything is logged.
pub(crate) fn start(log: &Log) -> anyhow::Result<()> {
    let targets: Targets = log.level.parse()?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = match log.format {
        LogFormat::Text => lines.with_ansi(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(targets)).try_init()?;
    Ok(())
}
