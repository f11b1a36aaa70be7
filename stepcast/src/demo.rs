//! `stepcast demo`: tonight's night now, on a temporary folder. The program, scheduler, queue, sender and ledger are
//! those of production; only time is stepped.

mod afterwards;
mod day;
mod example;
mod fill;
mod names;
mod outcome;
mod plan;
mod play;
mod population;
mod progress;
mod random;
mod real;
mod retries;
mod settings;
mod steps;
mod table;
mod tally;
mod walk;
mod warnings;
mod words;
mod zones;

use std::{
    future::Future,
    io::{self, Write},
    path::Path,
    pin::{Pin, pin},
    task::Poll,
    time::Instant as RealInstant,
};

use anyhow::Context;
use chrono::{TimeDelta, Utc};
use domain::{Day, Night, Uid};
use plumbing::Clock;

use self::{
    afterwards::Afterwards,
    outcome::Outcome,
    plan::Stop,
    population::{Common, Population},
    progress::Progress,
    real::RealData,
    retries::Retries,
    walk::Walk,
};
use crate::{cli, commands, endings::Ending, program::Program};

/// How long before the first hour the clock is set, so that the first seal is still ahead (10 minutes before the hour).
const BEFORE: TimeDelta = TimeDelta::minutes(11);

/// Plays the night and, without `--once`, goes on until a signal. The folder is gone at the end, whatever the end.
pub(crate) async fn run(asked: cli::Demo) -> anyhow::Result<Ending> {
    let started = RealInstant::now();
    let mut signal = pin!(commands::signal());
    // polled once before there is a folder: from here on a signal ends the demo instead of killing it
    if let Poll::Ready(end) = futures_util::poll!(signal.as_mut()) {
        return end.map(|()| Ending::Failed);
    }
    let folder = tempfile::Builder::new().prefix("stepcast-demo-").tempdir().context("a temporary folder")?;
    let progress = Progress::new();
    warnings::start(progress.above())?;
    let end = whole(&asked, folder.path(), started, progress, signal).await;
    folder.close().context("the temporary folder could not be removed")?;
    end
}

/// The night, what is told of it, and what follows, in a folder that is there.
async fn whole<F: Future<Output = anyhow::Result<()>>>(
    asked: &cli::Demo,
    folder: &Path,
    started: RealInstant,
    mut progress: Progress,
    mut signal: Pin<&mut F>,
) -> anyhow::Result<Ending> {
    let night = async {
        let population = match &asked.data {
            Some(data) => Population::Real(RealData::read(data)?),
            None => Population::MadeUp(asked.users),
        };
        let program = Program::open(settings::config(folder)?, Clock::system()).await?;
        let (outcome, stops) = night(&program, &population, started, &mut progress).await?;
        let told = told(&program, &outcome, &stops).await?;
        anyhow::Ok((program, outcome, told))
    };
    let ended = tokio::select! {
        ended = night => Some(ended),
        end = &mut signal => {
            end?;
            None
        }
    };
    progress.finish();
    let Some(ended) = ended else {
        say(true, "stopped before the night was over; the temporary folder is removed");
        return Ok(Ending::Failed);
    };
    let (program, outcome, told) = ended?;
    say(asked.json, &told);
    let ending = if outcome.whole() { Ending::Done } else { Ending::Failed };
    if asked.json {
        say(false, &outcome.json());
    }
    if asked.once {
        return Ok(ending);
    }
    let after = Afterwards::begin(&program).await?;
    let uid = outcome.tally.example.map_or(Uid(1), |example| example.uid);
    say(asked.json, &after.hints(folder, &outcome.night, uid));
    signal.await?;
    Ok(if after.end().await { ending } else { Ending::Failed })
}

/// Puts the population in and plays the night.
async fn night(
    program: &Program,
    population: &Population,
    started: RealInstant,
    progress: &mut Progress,
) -> anyhow::Result<(Outcome, Vec<Stop>)> {
    let campaign = &program.config.campaigns.first().context("there is no campaign")?.campaign;
    let channel = campaign.channels.first().context("the campaign has no channel")?.clone();
    let day = Day::of(Utc::now().date_naive()).context("the clock shows no day that can be written")?;
    let night = Night { campaign: campaign.name.clone(), day };
    let first = plan::stops(campaign, day, zones::all())
        .into_iter()
        .next()
        .context("the campaign has no hour today")?;
    // it begins with the day, in the zone that comes to it first
    let midnights = zones::all().filter_map(|zone| Some(zone.edges(day)?.begins));
    program.clock.move_to(midnights.min().context("the day never was")? - BEFORE);
    let now = program.clock.now();
    // who opted in only then is due tonight, and in no night before
    let common = Common { channel, since: first.at - BEFORE };
    let (census, waves) = fill::fill(&program.parts, population, &common, day, now, progress).await?;
    progress.begin(census.due());
    let stops = plan::stops(campaign, day, census.zones.iter().copied());
    let mut walk = Walk::begin(program, waves).await?;
    play::play(program, &night, campaign.window, &stops, &mut walk, progress).await?;
    let day_counts = walk.end(&program.parts, day).await?;
    let seconds = started.elapsed().as_secs_f64();
    let (sums, agrees) = outcome::recounted(&program.parts, &night).await?;
    let tally = tally::tally(&program.parts, &night).await?;
    let retries = Retries::of(&program.parts.metrics).count();
    Ok((Outcome { night, census, sums, agrees, day: day_counts, tally, retries, seconds }, stops))
}

/// The closing table, and an example of a push if there was one.
async fn told(program: &Program, outcome: &Outcome, stops: &[Stop]) -> anyhow::Result<String> {
    let mut text = table::table(outcome, stops)?;
    if let Some(one) = outcome.tally.example {
        text.push('\n');
        text.push_str(&example::example(&program.parts, &outcome.night, one).await?);
    }
    Ok(text)
}

/// Writes for people or machines; one who no longer reads is no error.
fn say(aside: bool, text: &str) {
    let _ = if aside { writeln!(io::stderr(), "{text}") } else { writeln!(io::stdout(), "{text}") };
}

#[cfg(test)]
mod tests {
    use night_ledger::Class;

    use super::*;

    /// A whole small night through the real program: everybody gets an outcome, and what is told agrees with the ledger.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_night_ends_with_everybody_accounted_for() {
        let folder = tempfile::tempdir().unwrap();
        let program = Program::open(settings::config(folder.path()).unwrap(), Clock::system()).await.unwrap();
        let (mut progress, people) = (Progress::new(), Population::MadeUp(120));
        let (outcome, stops) = night(&program, &people, RealInstant::now(), &mut progress).await.unwrap();
        assert!(outcome.whole());
        let (total, census) = (outcome.sums.total(), &outcome.census);
        assert_eq!((census.users, total.due), (120, census.due()));
        let ended = [Class::Suppressed, Class::Dead].map(|class| total.class(class)).iter().sum::<u64>();
        assert_eq!(total.delivered + ended, total.due);
        assert_eq!(outcome.tally.by_attempt.iter().sum::<u64>(), total.delivered);
        // who walked nothing is not pushed to
        let without = (0..120).map(|i| people.person(i).unwrap());
        let without = without.filter(|p| p.consent && !p.devices.is_empty() && p.steps.is_none());
        assert_eq!(total.class(Class::Suppressed), u64::try_from(without.count()).unwrap());
        let told = told(&program, &outcome, &stops).await.unwrap();
        let example = outcome.tally.example.unwrap();
        assert!(told.contains(&format!("nightly.{}.{}", outcome.night.day, example.uid)), "{told}");
        assert!(
            told.contains(" delivered\n") && told.contains("recount from every user's claim agrees"),
            "{told}"
        );
        assert_eq!(told.matches("failed, to be tried again").count(), usize::from(example.attempt) - 1);
    }
}
