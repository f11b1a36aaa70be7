use std::sync::Arc;

use anyhow::Context;
use ingest::Freezer;
use plumbing::http;
use prometheus_client::registry::Registry;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::program::Program;

/// Where a running program notes its address for phones and back ends, in the data folder.
const ADDRESS_FILE: &str = "ingest.addr";

/// Starts the HTTP edge and what the day needs beside it; answers what freezes days.
pub(super) async fn start(
    program: &Program,
    registry: &mut Registry,
    tasks: &mut JoinSet<()>,
    stop: &CancellationToken,
) -> anyhow::Result<Arc<Freezer>> {
    let (edge, freezer) = (program.edge(), program.freezer());
    edge.metrics().register(registry);
    let listen = program.config.ingest.listen;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("ingest.listen = {listen}"))?;
    let address = listener.local_addr()?;
    let note = program.config.data.join(ADDRESS_FILE);
    std::fs::write(&note, format!("{address}\n")).with_context(|| note.display().to_string())?;
    tracing::info!(%address, "reports are taken");
    tasks.spawn(ingest::freeze(Arc::clone(&freezer), Arc::clone(&program.clock), stop.clone()));
    tasks.spawn(ingest::publish(program.publisher(), stop.clone()));
    tasks.spawn(ingest::follow(Arc::clone(&edge), stop.clone()));
    let stop = stop.clone();
    tasks.spawn(async move {
        if !http::serve(listener, ingest::router(edge), stop, ingest::LISTENING).await {
            tracing::warn!("requests of phones or back ends were cut off");
        }
    });
    Ok(freezer)
}
