mod ingesting;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use chrono::TimeDelta;
use config::{Config, OpsKey};
use plumbing::{Clock, http};
use prometheus_client::registry::Registry;
use tokio::{net::TcpListener, signal::unix::SignalKind, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    access::ADDRESS_FILE,
    cli,
    endings::Ending,
    logs,
    ops::{self, OpsState},
    program::{Program, RefusedStores},
    watch,
};

/// How long parts may take to end after the signal: a chunk in flight may take as long as the lease on its batch.
pub(super) fn longest_drain(config: &Config) -> Duration {
    config.sender.lease.0.saturating_add(Duration::from_secs(5))
}

/// Which parts a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Roles {
    /// The command that runs them.
    command: &'static str,
    pub(crate) scheduler: bool,
    pub(crate) sender: bool,
    pub(crate) ingest: bool,
}

impl Roles {
    /// Of `stepcast run`.
    pub(crate) const ALL: Self = Self { command: "run", scheduler: true, sender: true, ingest: true };
    /// Of `stepcast scheduler run`.
    pub(crate) const SCHEDULER: Self =
        Self { command: "scheduler run", scheduler: true, sender: false, ingest: false };
    /// Of `stepcast sender run`.
    pub(crate) const SENDER: Self =
        Self { command: "sender run", scheduler: false, sender: true, ingest: false };
    /// Of `stepcast ingest run`.
    pub(crate) const INGEST: Self =
        Self { command: "ingest run", scheduler: false, sender: false, ingest: true };
}

/// `stepcast run` and `stepcast scheduler|sender|ingest run`: until a signal, or until the data file can no longer
/// be written.
pub(super) async fn run(config: Config, asked: &cli::Run, roles: Roles) -> anyhow::Result<Ending> {
    if roles != Roles::ALL {
        refuse_embedded(&config, roles.command)?;
    }
    logs::start(&config.log)?;
    config.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let clock = clock(&config, asked)?;
    let program = Program::begin(config, clock).await?;
    program.warn_if_empty().await?;
    let stop = CancellationToken::new();
    let mut running = start(&program, roles, stop.clone()).await?;
    tracing::info!(
        command = roles.command, data = %program.config.data.display(), ops = %running.address,
        tzdata = domain::Zone::tzdata_version(), campaigns = program.config.campaigns.len(), "stepcast runs"
    );
    let whole = tokio::select! {
        end = signal() => end.map(|()| true),
        () = running.ended() => Ok(false),
        error = program.ended() => Err(error.into()),
    };
    if let Err(error) = &whole {
        tracing::error!(%error, "the program ends, and has to be started again");
    }
    tracing::info!("stopping: no new work is taken, what is in flight ends");
    stop.cancel();
    let drained = running.drain().await;
    if let Err(error) = std::fs::remove_file(program.config.data.join(ADDRESS_FILE)) {
        tracing::warn!(%error, "{ADDRESS_FILE} could not be removed");
    }
    Ok(if whole? && drained { Ending::Done } else { Ending::Failed })
}

/// Several processes need shared stores: the data file is one process's alone.
pub(super) fn refuse_embedded(config: &Config, command: &str) -> anyhow::Result<()> {
    if config.shares_stores() {
        return Ok(());
    }
    let why = format!(
        "stepcast {command} is one process of several, and with stores.kind = \"embedded\" the data file is one \
         process's alone: use `stepcast run` or `stepcast night run`, or set stores.kind and queue.kind"
    );
    Err(RefusedStores(why).into())
}

/// A clock as the command line asks for; a shift or rate is for rehearsals only.
pub(super) fn clock(config: &Config, asked: &cli::Run) -> anyhow::Result<Clock> {
    let shift = asked
        .clock_shift
        .as_deref()
        .map(cli::shift)
        .transpose()
        .map_err(|e| anyhow::anyhow!("--clock-shift: {e}"))?;
    if (shift.is_some() || asked.clock_rate.is_some()) && !config.rehearsal {
        bail!("--clock-shift and --clock-rate are for rehearsals: set rehearsal = true");
    }
    Ok(Clock::shifted(shift.unwrap_or_else(TimeDelta::zero), asked.clock_rate.unwrap_or(1)))
}

/// The parts of a program at work.
pub(crate) struct Running {
    /// Where the ops API listens.
    pub(crate) address: SocketAddr,
    tasks: JoinSet<()>,
    longest_drain: Duration,
}

/// Starts these parts and the ops API; they end when `stop` is cancelled.
pub(crate) async fn start(
    program: &Program,
    roles: Roles,
    stop: CancellationToken,
) -> anyhow::Result<Running> {
    let scheduler = roles.scheduler.then(|| program.whole_scheduler());
    let mut registry = Registry::default();
    if let Some(scheduler) = &scheduler {
        scheduler.metrics().register(&mut registry);
    }
    if roles.sender {
        program.parts.metrics.register(&mut registry);
    }
    let mut tasks = JoinSet::new();
    // makes the data folder, where there is none yet
    let key = config::ops_key(&program.config.data, program.config.ops.key_file.as_deref())?;
    let figures = scheduler.as_ref().map(|scheduler| scheduler.metrics().clone());
    let freezer = match roles.ingest {
        true => Some(ingesting::start(program, &mut registry, &mut tasks, &stop).await?),
        false => None,
    };
    let state = OpsState { freezer, ..OpsState::of(program, figures, registry) };
    let address = serve(&program.config, key, state, &mut tasks, stop.clone()).await?;
    if let Some(scheduler) = scheduler {
        let (clock, ending) = (Arc::clone(&program.clock), stop.clone());
        // on a thread of its own: while it makes the seals of a night it keeps a core busy, and nobody else's work waits
        let runtime = tokio::runtime::Handle::current();
        tasks.spawn_blocking(move || runtime.block_on(scheduler::run(scheduler, &clock, ending)));
    }
    if let Some(lookout) = program.lookout.clone() {
        let ending = stop.clone();
        tasks.spawn(async move { lookout.watch(ending).await });
    }
    if roles.sender {
        tasks.spawn(sender::run(Arc::clone(&program.parts), stop));
    }
    Ok(Running { address, tasks, longest_drain: longest_drain(&program.config) })
}

async fn serve(
    config: &Config,
    key: OpsKey,
    state: OpsState,
    tasks: &mut JoinSet<()>,
    stop: CancellationToken,
) -> anyhow::Result<SocketAddr> {
    if key.made {
        tracing::info!(file = %key.path.display(), "an ops key was made; operator commands read it there");
    }
    let listener = TcpListener::bind(config.ops.listen)
        .await
        .with_context(|| format!("ops.listen = {}", config.ops.listen))?;
    let address = listener.local_addr()?;
    let note = config.data.join(ADDRESS_FILE);
    std::fs::write(&note, format!("{address}\n")).with_context(|| note.display().to_string())?;
    let state = Arc::new(state);
    let router = ops::keyed(ops::router(Arc::clone(&state)), &key.secret).merge(watch::router(state));
    tasks.spawn(async move {
        if !http::serve(listener, http::limited(router, ops::LIMITS), stop, ops::LISTENING).await {
            tracing::warn!("requests to the ops API were cut off");
        }
    });
    Ok(address)
}

impl Running {
    /// Waits until a part ends although nobody stopped it: the process must not go on without it.
    pub(crate) async fn ended(&mut self) {
        match self.tasks.join_next().await {
            Some(Err(error)) => tracing::error!(%error, "a part ended badly"),
            _ => tracing::error!("a part ended before the stop"),
        }
    }

    /// Waits for the parts to end, within a limit; whether all did.
    pub(crate) async fn drain(mut self) -> bool {
        let all = async {
            let mut whole = true;
            while let Some(end) = self.tasks.join_next().await {
                if let Err(error) = end {
                    tracing::error!(%error, "a part ended badly");
                    whole = false;
                }
            }
            whole
        };
        let longest = self.longest_drain;
        tokio::time::timeout(longest, all).await.unwrap_or_else(|_| {
            tracing::error!(
                "parts were still at work after {longest:?}; their batches come again at the next start"
            );
            false
        })
    }
}

/// Waits for SIGINT or SIGTERM.
pub(crate) async fn signal() -> anyhow::Result<()> {
    let mut terminate = tokio::signal::unix::signal(SignalKind::terminate())?;
    tokio::select! {
        end = tokio::signal::ctrl_c() => end?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
