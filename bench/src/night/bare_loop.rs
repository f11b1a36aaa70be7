use anyhow::{Context, ensure};

use crate::{
    bare::{self, Prepared},
    figures::rate,
    measure::CpuPerUser,
    profile::Profile,
    receiver::{Pushed, Receiver},
};

/// Pushes in flight, as many as a sender has on a channel by default: 4 batches with chunks of 100.
const IN_FLIGHT: usize = 400;

/// What the bare loop came to.
pub(super) struct Bare {
    pub(super) rate: f64,
    pub(super) cpu: CpuPerUser,
}

/// Posts as many pushes as there are users, with what the program's pushes held: its bodies and signatures in turn,
/// under identities as long as its own.
pub(super) async fn run(receiver: &Receiver, pushed: &[Pushed], users: u64) -> anyhow::Result<Bare> {
    let first = pushed.first().context("the receiver kept no push")?;
    let width = first.identity.len().saturating_sub("nightly.".len());
    let prepared = (0..users).zip(pushed.iter().cycle()).map(|(number, push)| Prepared {
        identity: format!("nightly.{number:0width$}"),
        signature: push.signature.clone(),
        body: push.body.clone().into_bytes(),
    });
    let prepared: Vec<_> = prepared.collect();
    let profile = Profile::begin(&[("loop", std::process::id()), ("receiver", receiver.pid())])?;
    let took = bare::push(receiver, IN_FLIGHT, prepared).await?;
    let received = receiver.received().await?;
    ensure!(received.pushes == users, "the bare loop's pushes did not all come: {received:?}");
    Ok(Bare { rate: rate(users, took.as_secs_f64()), cpu: profile.per_user(users)? })
}
