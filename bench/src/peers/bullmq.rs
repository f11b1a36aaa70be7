use std::{path::Path, process::Command};

use super::{command, install, sent};
use crate::{
    daemon::Daemon,
    figures::rate,
    profile::Profile,
    receiver::Receiver,
    registry::Run,
    servers::{Durability, Redis},
};

/// Times as many users as the bench names: it is that much faster than Celery.
const TIMES: u64 = 10;

/// BullMQ on a Redis that loses nothing, a thousand jobs a call, as many worker processes as there are cores.
pub(super) async fn measure(run: &mut Run<'_>, folder: &Path, receiver: &Receiver) -> anyhow::Result<()> {
    let installed = install::bullmq(run.program)?;
    let redis = Redis::start(folder, Durability::Wal)?;
    let node = |arguments: &[&str]| {
        let mut command = Command::new("node");
        command.args(arguments).current_dir(&installed);
        command.env("PEER_REDIS_PORT", redis.port().to_string()).env("PEER_URL", receiver.url());
        command
    };
    let users = run.users * TIMES;
    let profile = Profile::begin(&[("redis", redis.pid())])?;
    let enqueued = command::seconds(&mut node(&["enqueue.js", &users.to_string()]), run.size)?;
    let mut cpu = profile.per_user(users)?;
    cpu.insert("bullmq", enqueued.cpu_per_user(users));
    run.tell("bullmq_enqueue", rate(users, enqueued.seconds), "users/s", cpu, None);

    let cores = std::thread::available_parallelism()?.get();
    let start = |number| {
        Daemon::start("bullmq worker", &mut node(&["work.js"]), folder.join(format!("bullmq-{number}.log")))
    };
    let mut workers = (0..cores).map(start).collect::<anyhow::Result<Vec<_>>>()?;
    let mut processes = vec![("redis", redis.pid()), ("receiver", receiver.pid())];
    processes.extend(workers.iter().map(|worker| ("bullmq", worker.pid())));
    let profile = Profile::begin(&processes)?;
    let sent = sent(receiver, users, &profile, || workers.iter_mut().try_for_each(Daemon::check)).await?;
    run.tell("bullmq_send", sent.received.rate(), "users/s", sent.cpu, None);
    Ok(())
}
