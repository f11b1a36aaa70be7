//! The night, played: only the clock is stepped, everything else is what runs in production.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant as RealInstant},
};

use anyhow::bail;
use chrono::TimeDelta;
use domain::{Instant, Night, Zone};
use night_ledger::{Class, Sums};
use scheduler::Scheduler;
use tokio_util::sync::CancellationToken;

use super::{
    plan::Stop,
    progress::{Moment, Progress},
    retries::Retries,
    walk::Walk,
    words::number,
};
use crate::program::Program;

/// Pause between two looks at the queue.
const PAUSE: Duration = Duration::from_millis(2);
/// How long the night may stand still before it is given up.
const STILL: Duration = Duration::from_secs(60);

/// Plays the stops of a night one after the other, until nothing of it is open.
pub(super) async fn play(
    program: &Program,
    night: &Night,
    window: u32,
    stops: &[Stop],
    walk: &mut Walk,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    // also when this is given up half way
    let guard = stop.clone().drop_guard();
    let sending = tokio::spawn(sender::run(Arc::clone(&program.parts), stop));
    let ahead = TimeDelta::from_std(program.config.scheduler.prepare_ahead.0)?;
    let retries = Retries::of(&program.parts.metrics);
    let mut play = Play {
        program,
        scheduler: program.whole_scheduler(),
        night,
        retries,
        walk,
        progress,
        still: Still::new(),
    };
    for stop in stops {
        play.stop(stop, ahead, window).await?;
    }
    // past the last deadline the scheduler closes the night
    if let Some(last) = stops.iter().map(|s| s.deadline).max() {
        play.walk.until(last, play.progress).await?;
        play.step(last).await?;
    }
    // who was late reports within minutes after midnight
    play.walk.rest(play.progress).await?;
    drop(guard);
    sending.await?;
    Ok(())
}

struct Play<'a> {
    program: &'a Program,
    scheduler: Scheduler,
    night: &'a Night,
    retries: Retries,
    walk: &'a mut Walk,
    progress: &'a mut Progress,
    still: Still,
}

/// What is still to be done.
struct Left {
    /// Batches ready for a sender.
    ready: u64,
    /// Batches in queue, hands and ladder.
    batches: u64,
    /// Users in them.
    users: u64,
}

impl Play<'_> {
    /// One instant: its moments, then on until nothing of it is open. Only then the clock may jump on.
    async fn stop(&mut self, stop: &Stop, ahead: TimeDelta, window: u32) -> anyhow::Result<()> {
        self.walk.until(stop.at - ahead, self.progress).await?;
        let started = RealInstant::now();
        let room = u64::try_from(self.program.parts.settings.batches_at_once)?;
        for moment in stop.moments(ahead, window) {
            self.step(moment).await?;
            // a second lasts until its batches are in the senders' hands, so that the slots keep their order
            self.look(stop).await?;
            while self.left().await?.ready > room {
                tokio::time::sleep(PAUSE).await;
                self.look(stop).await?;
            }
        }
        loop {
            let publishing = self.step(stop.at).await?;
            let open = self.sums().await?.total().open;
            if !publishing && open == 0 && self.left().await?.batches == 0 {
                break;
            }
            tokio::time::sleep(PAUSE * 5).await;
            self.look(stop).await?;
        }
        let here = of_zones(&self.sums().await?, &stop.zones.iter().copied().collect());
        self.progress.plain_line(|| {
            let [due, delivered, suppressed] =
                [here.due, here.delivered, here.class(Class::Suppressed)].map(number);
            let (time, zones) = (stop.time(stop.at, "%H:%M"), stop.names());
            let seconds = started.elapsed().as_secs_f64();
            format!("{time} in {zones}: {due} due, {delivered} delivered, {suppressed} suppressed ({seconds:.1} s)")
        });
        Ok(())
    }

    /// Moves the clock on to `at`, never back, and lets the scheduler do its work. Answers whether some of what has fired
    /// is not published yet.
    async fn step(&mut self, at: Instant) -> anyhow::Result<bool> {
        let clock = &self.program.clock;
        if clock.now() < at {
            // it is set to the millisecond: the second itself must have come
            clock.move_to(at + TimeDelta::milliseconds(1));
        }
        Ok(self.scheduler.tick(clock.now()).await?.publishing)
    }

    /// Shows how far the night is when it is time to, and sees that it goes on.
    async fn look(&mut self, stop: &Stop) -> anyhow::Result<()> {
        if !self.progress.due() {
            return Ok(());
        }
        let (total, left) = (self.sums().await?.total(), self.left().await?);
        let moment = Moment {
            done: total.due.saturating_sub(total.open),
            queued: left.users,
            delivered: total.delivered,
            retried: self.retries.count(),
            suppressed: total.class(Class::Suppressed),
        };
        let time = stop.time(self.program.clock.now(), "%H:%M:%S");
        self.progress.show(&format!("{time} in {}", stop.names()), moment);
        self.still.look(moment)
    }

    async fn sums(&self) -> anyhow::Result<Sums> {
        Ok(self.program.parts.ledger.sums(self.night).await?)
    }

    async fn left(&self) -> anyhow::Result<Left> {
        let mut left = Left { ready: 0, batches: 0, users: 0 };
        for channel in self.program.parts.lines.keys() {
            let depth = self.program.parts.queue.depth(channel).await?;
            left.ready += depth.ready;
            left.batches += depth.ready + depth.unacked.unwrap_or(0) + depth.delayed;
            left.users += depth.users.unwrap_or(0);
        }
        Ok(left)
    }
}

/// The sums of some zones added up.
pub(super) fn of_zones(sums: &Sums, zones: &BTreeSet<Zone>) -> night_ledger::Line {
    let mut wanted = Sums::default();
    for ((zone, shard, channel), line) in &sums.lines {
        if zones.contains(zone) {
            wanted.add(*zone, *shard, channel.clone(), line);
        }
    }
    wanted.total()
}

/// Gives up a night that stands still, rather than wait for ever.
struct Still {
    moment: Moment,
    since: RealInstant,
}

impl Still {
    fn new() -> Self {
        Self { moment: Moment::default(), since: RealInstant::now() }
    }

    fn look(&mut self, moment: Moment) -> anyhow::Result<()> {
        if moment != self.moment {
            *self = Self { moment, since: RealInstant::now() };
        }
        if self.since.elapsed() > STILL {
            bail!(
                "the night has stood still for {} s, with {} users in the queue",
                STILL.as_secs(),
                moment.queued
            );
        }
        Ok(())
    }
}
