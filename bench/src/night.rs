//! The night by many processes: a scheduler, a sender, RabbitMQ, Redis and a server that takes the pushes, each a
//! process of its own. The claims, the steps, the device, the text and the push of every user, against a bare loop that
//! posts the same pushes to the same server.

mod bare_loop;
mod load;
mod play;
mod setup;

use self::{play::play, setup::Setup};
use crate::{
    bar::Bar,
    figures::rate,
    hour::hour,
    measure::CpuPerUser,
    receiver::Receiver,
    registry::{Bench, Run, Running},
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "night",
    about: "the night by a scheduler and a sender over RabbitMQ and Redis: pushed to a local server, and to the stub",
    users: 200_000,
    memory: 12_000,
    run: |run| -> Running<'_> { Box::pin(night(run)) },
};

/// Of what the bare loop does, at least.
const RATIO: f64 = 0.85;
/// Users a second with the stub, at least.
const STUB_RATE: f64 = 150_000.0;
/// Times as many users with the stub.
const STUB_TIMES: u64 = 5;

/// The bench's names for a server under TLS, where the program speaks HTTP/2, and for one in clear, where it speaks
/// HTTP/1.1.
const NAMES: [(bool, [&str; 4]); 2] = [
    (true, ["http2_sealed", "http2", "http2_bare_loop", "http2_h2load"]),
    (false, ["http1_sealed", "http1", "http1_bare_loop", "http1_h2load"]),
];

async fn night(run: &mut Run<'_>) -> anyhow::Result<()> {
    for (secure, names) in NAMES {
        pushed(run, secure, names).await?;
    }
    stub(run).await
}

/// To the local server.
async fn pushed(run: &mut Run<'_>, secure: bool, names: [&'static str; 4]) -> anyhow::Result<()> {
    let (users, hour) = (run.users, hour(chrono::Utc::now())?);
    let setup = Setup::start(run.program).await?;
    let receiver = Receiver::start(setup.folder(), secure).await?;
    let homes = setup.homes(&setup::hook(receiver.url()), receiver.certificate())?;
    setup.import(&homes, users, &hour, "hook")?;
    let night = play(&setup, &homes, &hour, users, Some(&receiver)).await?;
    let pushes = receiver.sample().await?;
    receiver.reset().await?;
    let bare = bare_loop::run(&receiver, &pushes, users).await?;
    let (ours, none) = (rate(users, night.lasted.as_secs_f64()), CpuPerUser::new);
    let bar = Some(Bar::RatioAtLeast(RATIO));
    run.tell(names[0], night.sealing.as_secs_f64(), "s", none(), None);
    run.tell_against(names[1], ours, "users/s", Some(bare.rate), night.cpu, bar);
    run.tell(names[2], bare.rate, "users/s", bare.cpu, None);
    if let Some(load) = load::run(setup.folder(), &receiver, &pushes, users)? {
        run.tell(names[3], load, "users/s", none(), None);
    }
    Ok(())
}

/// To nobody.
async fn stub(run: &mut Run<'_>) -> anyhow::Result<()> {
    let (users, hour) = (run.users * STUB_TIMES, hour(chrono::Utc::now())?);
    let setup = Setup::start(run.program).await?;
    let homes = setup.homes(setup::STUB, None)?;
    setup.import(&homes, users, &hour, "stub")?;
    let night = play(&setup, &homes, &hour, users, None).await?;
    let ours = rate(users, night.lasted.as_secs_f64());
    run.tell("stub", ours, "users/s", night.cpu, Some(Bar::AtLeast(STUB_RATE)));
    Ok(())
}
