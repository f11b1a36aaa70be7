//! The night of 100,000 users in one process, on the embedded file, pushed to the stub: in one zone, and in thirty that
//! share the instant.

mod night;

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use self::night::{Night, night};
use crate::{
    bar::Bar,
    figures::{per, rate},
    hour::{Hour, WINDOW, hour},
    measure::CpuPerUser,
    people, process,
    profile::micros_per,
    program::Home,
    registry::{Bench, Run, Running},
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "embedded",
    about: "a night in one process: import, seal, push to the stub, all on the embedded file",
    users: 100_000,
    memory: 4_096,
    run: |run| -> Running<'_> { Box::pin(embedded(run)) },
};

/// Seconds the night may take at medium, its window included.
const BAR: f64 = 10.0;
const CONFIG: &str = "rehearsal = true

[ops]
listen = \"127.0.0.1:0\"

[ingest]
listen = \"127.0.0.1:0\"

[channels.stub]
latency = \"0ms\"
error_rate = 0.0

[campaigns.nightly]
window = 1
";

async fn embedded(run: &mut Run<'_>) -> anyhow::Result<()> {
    let hour = hour(chrono::Utc::now())?;
    let bar = Some(Bar::AtMost(run.size.bound(BAR, WINDOW.into())));
    let home = Home::make(run.program, CONFIG)?;
    import(run, &home, &hour, 1, true)?;
    let one = night(&home, &hour, run.users).await?;
    let seconds = one.lasted.as_secs_f64();
    run.tell("start_to_sealed", one.sealing.as_secs_f64(), "s", CpuPerUser::new(), None);
    run.tell("night", seconds, "s", one.cpu.clone(), bar);
    run.tell("night_rate", rate(run.users, seconds), "users/s", CpuPerUser::new(), None);
    tell_space(run, &home, &one)?;
    drop(home);

    let home = Home::make(run.program, CONFIG)?;
    import(run, &home, &hour, hour.zones.len(), false)?;
    let thirty = night(&home, &hour, run.users).await?;
    run.tell("night_30_zones", thirty.lasted.as_secs_f64(), "s", thirty.cpu, bar);
    Ok(())
}

/// Imports users of the first `zones` zones and their steps with the program's own commands.
fn import(run: &mut Run<'_>, home: &Home, hour: &Hour, zones: usize, tell: bool) -> anyhow::Result<()> {
    let (users, steps) = (home.path("users.csv"), home.path("steps.csv"));
    people::write_users(&users, run.users, hour.zones.get(..zones).context("too few zones")?, "stub")?;
    people::write_steps(&steps, run.users, hour.day)?;
    for (what, name, file, counted) in
        [("users", "import_users", users, "created"), ("steps", "import_steps", steps, "stored")]
    {
        let (begun, cpu) = (Instant::now(), process::children_cpu()?);
        let told = home.ask(&["import", what, &file.to_string_lossy(), "--json"])?;
        let (took, cpu) = (begun.elapsed(), process::children_cpu()?.saturating_sub(cpu));
        ensure!(told["counts"][counted] == run.users && told["refused"] == 0, "import {what}: {told}");
        if tell {
            let cpu = CpuPerUser::from([("stepcast", micros_per(cpu, run.users))]);
            run.tell(name, rate(run.users, took.as_secs_f64()), "users/s", cpu, None);
        }
    }
    Ok(())
}

fn tell_space(run: &mut Run<'_>, home: &Home, night: &Night) -> anyhow::Result<()> {
    let file = home.data().join("stepcast.redb").metadata().context("the data file")?.len();
    run.tell("night_written", per(night.written, run.users), "bytes/user", CpuPerUser::new(), None);
    run.tell("peak_memory", per(night.memory, 1 << 20), "MiB", CpuPerUser::new(), None);
    run.tell("data_file", per(file, run.users), "bytes/user", CpuPerUser::new(), None);
    let sync = sync_time(home).context("the disk")?;
    run.tell("disk_sync", sync.as_secs_f64() * 1e6, "us", CpuPerUser::new(), None);
    Ok(())
}

/// What the disk takes to keep a page of 4 KiB, the mean of 200: a night is to be read against it.
fn sync_time(home: &Home) -> std::io::Result<Duration> {
    use std::os::unix::fs::FileExt;
    const TIMES: u32 = 200;
    let file = std::fs::File::create(home.path("sync"))?;
    file.write_all_at(&[0; 4_096 * 64], 0)?;
    file.sync_all()?;
    let begun = Instant::now();
    for time in 0..TIMES {
        file.write_all_at(&[1; 4_096], u64::from(time % 64) * 4_096)?;
        file.sync_data()?;
    }
    Ok(begun.elapsed() / TIMES)
}
