use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use directory::Scope;
use domain::{CampaignName, Day, Uid, Zone};
use job_queue::DeadReason;
use plumbing::Span;

/// Every user's own step count at 22:00 local time, and a friends' board when they open it.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    /// Configuration file; without it STEPCAST_CONFIG names one, or the defaults hold.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plays tonight's night on a temporary folder: nothing to install or set up.
    Demo(Demo),
    /// Runs all parts in one process.
    Run(Run),
    /// Schedules nights over shared stores, beside other processes.
    #[command(subcommand)]
    Scheduler(Scheduler),
    /// Sends what schedulers put into the queue, beside other processes.
    #[command(subcommand)]
    Sender(Sender),
    /// Takes reports and keeps people over HTTP, beside other processes.
    #[command(subcommand)]
    Ingest(Ingest),
    /// Makes, lists or revokes the keys of the HTTP interfaces.
    #[command(subcommand)]
    Key(Key),
    /// Makes user tokens, for trials.
    #[command(subcommand)]
    Token(Token),
    /// Shows, runs, pauses, aborts or proves a night.
    #[command(subcommand)]
    Night(Night),
    /// Tells why a user got a push or none, and when.
    Why(Why),
    /// Lists, shows or replays dead letters.
    #[command(subcommand)]
    Dead(Dead),
    /// Shows entries of the step store.
    #[command(subcommand)]
    Store(Store),
    /// Imports users or steps in bulk.
    #[command(subcommand)]
    Import(Import),
    /// Audits the calendar of the zones.
    #[command(subcommand)]
    Zones(Zones),
    /// Checks or shows the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// How many users the population has.
    #[arg(long, default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "data")]
    pub(crate) users: u32,
    /// Ends after the night instead of going on until Ctrl-C.
    #[arg(long)]
    pub(crate) once: bool,
    /// Prints one JSON object as the last line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder with real data: graph/ego_facebook_edges.txt.gz and steps/lifesnaps_daily_steps.csv.gz.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Shows a time that is off by so long, for rehearsals: "2h", "-30m".
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) clock_shift: Option<String>,
    /// Lets time run N times as fast, for rehearsals.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) clock_rate: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Scheduler {
    /// Until a signal.
    Run(Run),
    /// One-shot for a crontab: seals and publishes what has fired in any zone and is inside its deadline, and ends. A line
    /// every 15 minutes serves all zones.
    Once(SchedulerOnce),
}

#[derive(Debug, Args)]
pub(crate) struct SchedulerOnce {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) clock: Run,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sender {
    /// Until a signal.
    Run(Run),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Ingest {
    /// Until a signal.
    Run(Run),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Makes a key and prints it. It is shown once: the store has a hash of it.
    Add {
        /// reports, directory, boards or ops; may be given several times.
        #[arg(long = "scope", required = true)]
        scopes: Vec<Scope>,
        /// What it is for, up to 64 bytes.
        #[arg(long, default_value = "")]
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Lists the keys.
    List {
        #[arg(long)]
        json: bool,
    },
    /// Takes a key away, by its id: within two seconds nobody is let in with it.
    Revoke {
        id: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Makes a user's token and prints it, for trials: the app's back end makes its own, see docs/tokens.md.
    Make {
        /// The user's id as the app writes it.
        user: String,
        /// How long it holds: "1h", "30d" is "720h".
        #[arg(long = "for", value_name = "DURATION")]
        span: Span,
        /// The id of the secret in access.user_token_keys; the first without it.
        #[arg(long)]
        key: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Night {
    /// The sums of a night, and its brakes.
    Show(NightShow),
    /// One-shot for a crontab: enqueues what is due, sends it, drains and ends. A line every 15 minutes serves all zones.
    Run(NightRun),
    /// Holds a night back: what is due waits, and expires at its deadline.
    Pause(NightBrake),
    /// Lets a paused night go on.
    Resume(NightBrake),
    /// Ends a night for good: nobody who is still open gets a push.
    Abort(NightBrake),
    /// Holds a provider's receipts against the ledger, uid by uid. Fails where they differ.
    Prove(NightProve),
}

#[derive(Debug, Args)]
pub(crate) struct NightBrake {
    #[arg(long)]
    pub(crate) campaign: CampaignName,
    #[arg(long)]
    pub(crate) day: Day,
    /// Only this zone.
    #[arg(long)]
    pub(crate) zone: Option<Zone>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NightProve {
    #[arg(long)]
    pub(crate) campaign: CampaignName,
    #[arg(long)]
    pub(crate) day: Day,
    /// What the provider received: NDJSON of {"identity": "nightly.20260607.1001", "at": "..."}, gzip or not.
    #[arg(long, value_name = "FILE")]
    pub(crate) receipts: PathBuf,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NightShow {
    #[arg(long)]
    pub(crate) campaign: CampaignName,
    #[arg(long)]
    pub(crate) day: Day,
    /// Only this zone.
    #[arg(long)]
    pub(crate) zone: Option<Zone>,
    /// Counts again from the claims and says whether that agrees.
    #[arg(long)]
    pub(crate) recount: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NightRun {
    #[arg(long)]
    pub(crate) campaign: CampaignName,
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) clock: Run,
}

#[derive(Debug, Args)]
pub(crate) struct Why {
    pub(crate) uid: Uid,
    #[arg(long)]
    pub(crate) campaign: CampaignName,
    #[arg(long)]
    pub(crate) day: Day,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Dead {
    /// Lists dead letters, oldest first.
    List {
        /// Only those after this one.
        #[arg(long)]
        after: Option<u64>,
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        limit: u32,
        #[arg(long)]
        json: bool,
    },
    /// Shows one dead letter whole.
    Show {
        id: u64,
        #[arg(long)]
        json: bool,
    },
    /// Publishes the dead letters of a reason once more, oldest first, those past their deadline aside.
    Replay {
        /// attempts, unknown_campaign, unknown_channel, unknown_seal, panicked, unworkable or past_deadline.
        #[arg(long)]
        reason: DeadReason,
        /// At most so many.
        #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// One user's number of one day.
    Get {
        uid: Uid,
        #[arg(long)]
        day: Day,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Users: CSV (uid,zone,language,region,consent,consent_at,name,devices,deleted) or NDJSON, gzip or not.
    Users(ImportFile),
    /// Steps: CSV (uid,day,steps), gzip or not; each row is the total of the user's day, as the source `import`.
    Steps(ImportFile),
}

#[derive(Debug, Args)]
pub(crate) struct ImportFile {
    pub(crate) file: PathBuf,
    /// csv or ndjson; without it the file's name tells.
    #[arg(long)]
    pub(crate) format: Option<directory::Format>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Zones {
    /// Each zone and day: when the campaign fires, when the day begins and freezes, by which rule. Fails where a day that
    /// the line selects has no fire or two.
    Audit(ZonesAudit),
}

#[derive(Debug, Args)]
pub(crate) struct ZonesAudit {
    #[arg(long)]
    pub(crate) campaign: CampaignName,
    /// Only this zone; all without it.
    #[arg(long)]
    pub(crate) zone: Option<Zone>,
    /// The first day; today without it.
    #[arg(long)]
    pub(crate) from: Option<Day>,
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) days: u32,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Checks the configuration and names every fault; exit code 78 if there is one.
    Check,
    /// Shows every value in effect and where it came from; secrets are hidden.
    Show,
}

/// Ten years: enough for any rehearsal, and inside what can be written as a date.
const MOST_SHIFT_DAYS: i64 = 3_660;

/// A shift of the clock: a length of time, with a minus for the past.
pub(crate) fn shift(text: &str) -> Result<chrono::TimeDelta, String> {
    let (back, length) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let span: Span = length.parse()?;
    let delta = chrono::TimeDelta::from_std(span.0).ok().filter(|delta| delta.num_days() <= MOST_SHIFT_DAYS);
    let delta = delta.ok_or_else(|| format!("{text:?}: at most {MOST_SHIFT_DAYS} days are wanted"))?;
    Ok(if back { -delta } else { delta })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn shifts_go_both_ways() {
        assert_eq!(shift("2h"), Ok(chrono::TimeDelta::hours(2)));
        assert_eq!(shift("-30m"), Ok(chrono::TimeDelta::minutes(-30)));
        assert!(shift("99999999999h").is_err() && shift("-88000h").is_err());
        assert!(shift("soon").is_err() && shift("--5s").is_err());
    }
}
