//! What people would use instead: Celery on RabbitMQ and BullMQ on Redis, one job a user, on the same night and the
//! same servers as ours. They are fetched from their registries when this bench is asked for.

mod bullmq;
mod celery;
mod command;
mod install;

use crate::{
    profile::Profile,
    receiver::{Received, Receiver},
    registry::{Bench, Run, Running},
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "peers",
    about: "Celery 5 and BullMQ 5, installed when asked for: one job a user, HTTP push to the local server",
    users: 20_000,
    memory: 60_000,
    run: |run| -> Running<'_> { Box::pin(peers(run)) },
};

async fn peers(run: &mut Run<'_>) -> anyhow::Result<()> {
    let folder = crate::program::folder(run.program)?;
    let receiver = Receiver::start(folder.path(), false).await?;
    celery::measure(run, folder.path(), &receiver).await?;
    receiver.reset().await?;
    bullmq::measure(run, folder.path(), &receiver).await
}

/// What a peer's workers did, from the receiver's side.
struct Sent {
    received: Received,
    cpu: crate::measure::CpuPerUser,
}

/// Waits until all were pushed to, and fails where one got none.
async fn sent(
    receiver: &Receiver,
    users: u64,
    profile: &Profile,
    check: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Sent> {
    let received = receiver.until(users, PATIENCE, check).await?;
    anyhow::ensure!(received.different == users, "not everybody was pushed to: {received:?}");
    Ok(Sent { received, cpu: profile.per_user(users)? })
}

/// How long a peer may stand still, its start included.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
