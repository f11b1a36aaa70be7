use tracing_subscriber::{Layer, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt};

use super::progress::AboveBar;

/// Lets warnings and errors be seen above the bar; what goes well is told by the bar and the table.
pub(super) fn start(above: AboveBar) -> anyhow::Result<()> {
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || above.clone());
    tracing_subscriber::registry().with(lines.with_filter(LevelFilter::WARN)).try_init()?;
    Ok(())
}
