use std::{path::Path, process::Command};

use super::{command, install, sent};
use crate::{
    daemon::Daemon, figures::rate, profile::Profile, receiver::Receiver, registry::Run, servers::RabbitMq,
};

/// Celery on a quorum queue, confirmed when enqueued and acknowledged when done, as many worker processes as there are
/// cores.
pub(super) async fn measure(run: &mut Run<'_>, folder: &Path, receiver: &Receiver) -> anyhow::Result<()> {
    let installed = install::celery(run.program)?;
    let broker = RabbitMq::start(folder)?;
    let python = |arguments: &[&str]| {
        let mut command = Command::new(installed.join("venv/bin/python"));
        command.args(arguments).current_dir(&installed);
        command.env("PEER_BROKER", broker.url_with_user()).env("PEER_URL", receiver.url());
        command
    };
    let users = run.users;
    // the program that enqueues is a child of this one; it has ended when it is counted
    let profile = Profile::begin(&[("rabbitmq", broker.pid())])?;
    let enqueued = command::seconds(&mut python(&["enqueue.py", &users.to_string()]), run.size)?;
    let mut cpu = profile.per_user(users)?;
    cpu.insert("celery", enqueued.cpu_per_user(users));
    run.tell("celery_enqueue", rate(users, enqueued.seconds), "users/s", cpu, None);

    let cores = std::thread::available_parallelism()?.to_string();
    let mut work = python(&["-m", "celery", "-A", "tasks", "worker", "-Q", "peer", "-c", &cores]);
    work.args(["--loglevel", "WARNING", "--without-gossip", "--without-mingle"]);
    let mut workers = Daemon::start("celery worker", &mut work, folder.join("celery.log"))?;
    let profile = Profile::begin(&[
        ("celery", workers.pid()),
        ("rabbitmq", broker.pid()),
        ("receiver", receiver.pid()),
    ])?;
    let sent = sent(receiver, users, &profile, || workers.check()).await?;
    run.tell("celery_send", sent.received.rate(), "users/s", sent.cpu, None);
    // its processes end with it only where it ends in good order
    workers.end().await
}
