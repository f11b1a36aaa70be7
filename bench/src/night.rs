//! The night by many processes: a scheduler, a sender, RabbitMQ, Redis and a server that takes the pushes, each a
//! process of its own. The claims, the steps, the device, the text and the push of every user, against a bare loop that
//! posts the same pushes to the same server.

mod bare_loop;
mod load;
mod play;
mod setup;

use self::{
    bare_loop::Bare,
    play::{Night, play},
    setup::Setup,
};
use crate::{
    bar::Bar,
    figures::{middle, rate},
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

/// Of what the bare loop does over HTTP/2, at least.
const RATIO: f64 = 0.85;
/// Users a second with the stub, at least.
const STUB_RATE: f64 = 150_000.0;
/// Times as many users with the stub.
const STUB_TIMES: u64 = 5;

/// Nights and bare loops in turn, of which the one with the middle ratio is reported: what else goes on in the machine
/// moves any single one.
const ROUNDS: usize = 5;
/// Nights with the stub, of which the middle one is reported.
const STUB_ROUNDS: usize = 3;

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

/// To the local server: nights and bare loops in turn.
async fn pushed(run: &mut Run<'_>, secure: bool, names: [&'static str; 4]) -> anyhow::Result<()> {
    let (users, mut hour) = (run.users, hour(chrono::Utc::now())?);
    let setup = Setup::start(run.program).await?;
    let receiver = Receiver::start(setup.folder(), secure).await?;
    let homes = setup.homes(&setup::hook(receiver.url()), receiver.certificate())?;
    setup.import_users(&homes, users, &hour, "hook")?;
    let (mut rounds, mut pushes) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        setup.import_steps(&homes, users, &hour)?;
        receiver.reset().await?;
        let night = play(&setup, &homes, &hour, users, Some(&receiver)).await?;
        pushes = receiver.sample().await?;
        receiver.reset().await?;
        let bare = bare_loop::run(&receiver, &pushes, users).await?;
        rounds.push(Round { ours: rate(users, night.lasted.as_secs_f64()), night, bare });
        hour = hour.next()?;
    }
    let Round { ours, night, bare } = middle(&format!("{}, ratios", names[1]), rounds, Round::ratio)?;
    let (none, bar) = (CpuPerUser::new, secure.then_some(Bar::RatioAtLeast(RATIO)));
    run.tell(names[0], night.sealing.as_secs_f64(), "s", none(), None);
    run.tell_against(names[1], ours, "users/s", Some(bare.rate), night.cpu, bar);
    run.tell(names[2], bare.rate, "users/s", bare.cpu, None);
    if let Some(load) = load::run(setup.folder(), &receiver, &pushes, users)? {
        run.tell(names[3], load, "users/s", none(), None);
    }
    Ok(())
}

/// A night, and the bare loop with its pushes.
struct Round {
    ours: f64,
    night: Night,
    bare: Bare,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.ours / self.bare.rate
    }
}

/// To nobody.
async fn stub(run: &mut Run<'_>) -> anyhow::Result<()> {
    let (users, mut hour) = (run.users * STUB_TIMES, hour(chrono::Utc::now())?);
    let setup = Setup::start(run.program).await?;
    let homes = setup.homes(setup::STUB, None)?;
    setup.import_users(&homes, users, &hour, "stub")?;
    let mut nights = Vec::new();
    for _ in 0..STUB_ROUNDS {
        setup.import_steps(&homes, users, &hour)?;
        nights.push(play(&setup, &homes, &hour, users, None).await?);
        hour = hour.next()?;
    }
    let rate = |night: &Night| rate(users, night.lasted.as_secs_f64());
    let night = middle("stub, users/s", nights, rate)?;
    run.tell("stub", rate(&night), "users/s", night.cpu, Some(Bar::AtLeast(STUB_RATE)));
    Ok(())
}
