//! Gathers the settings of all parts. Reads the compiled-in defaults, a file and the environment, and the secrets they
//! name; no other part reads any of them. Whatever is wrong is told, all of it at once.

mod access;
mod campaigns;
mod channels;
mod draft;
mod engines;
mod environment;
mod fault;
mod fields;
mod file;
mod key;
mod log;
mod near;
mod ops;
mod ops_key;
mod origin;
mod overlay;
mod parse;
mod password;
mod printable;
mod rules;
mod secret_file;
mod sender_settings;
mod show;
#[cfg(test)]
mod tests;
mod texts;
mod tree;
mod typed;
mod webhook_secret;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

pub use access::Access;
pub use campaigns::Campaign;
use domain::ChannelName;
use draft::Draft;
pub use engines::{Queue, Stores};
pub use environment::environment;
pub use fault::{Fault, Faults};
use key::Key;
pub use log::{Log, LogFormat};
pub use ops::Ops;
pub use ops_key::{OpsKey, OpsKeyError, ops_key, read_ops_key};
pub use origin::Origin;
use sender::channel::ChannelSettings;
use serde::Deserialize;
pub use texts::Text;

/// The commented page of all settings, which is also where their defaults are read from.
const DEFAULTS: &str = include_str!("../default.toml");

/// All settings, checked. Secrets in it are not shown by `Debug`.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder of the data file and the ops key.
    pub data: PathBuf,
    /// Whether the clock may be shifted and moved.
    pub rehearsal: bool,
    /// How the log is written.
    pub log: Log,
    /// How operators reach the program.
    pub ops: Ops,
    /// Where people, steps and nights lie.
    pub stores: Stores,
    /// Where batches wait; embedded where the stores are, and only there.
    pub queue: Queue,
    /// The scheduler's.
    pub scheduler: scheduler::Settings,
    /// The sender's.
    pub sender: sender::Settings,
    /// Ingest's.
    pub ingest: ingest::Settings,
    /// Who is let in.
    pub access: Access,
    /// The channels by name; a webhook's `secret` is filled in, also where it came from a file.
    pub channels: BTreeMap<ChannelName, ChannelSettings>,
    /// The campaigns in the order of their names; each names channels of `channels` only.
    pub campaigns: Vec<Campaign>,
    /// What is allowed, but hardly meant: to be logged at the start.
    pub warnings: Vec<String>,
    shown: show::Shown,
}

/// The settings that are in no section.
#[derive(Deserialize)]
struct Top {
    data: PathBuf,
    rehearsal: bool,
}

/// The sections.
const SECTIONS: &[&str] =
    &["log", "ops", "stores", "queue", "scheduler", "sender", "ingest", "access", "channels", "campaigns"];

impl Config {
    /// Reads the defaults, over them `file` (or the file that `STEPCAST_CONFIG` names, or none), over both the variables
    /// `STEPCAST_...` of `variables`; see [`environment`]. A file that is named must be there.
    pub fn load(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, Faults> {
        let variables: Vec<_> = variables.into_iter().collect();
        let named =
            variables.iter().find(|(name, _)| name == environment::FILE).map(|(_, value)| Path::new(value));
        let mut draft = Draft::of_defaults();
        if let Some(path) = file.or(named) {
            file::lay_file(&mut draft, path);
        }
        environment::lay_environment(&mut draft, &variables);
        Self::of_draft(draft)
    }

    /// Whether the stores and the queue are shared with other processes; else they lie in the data file.
    pub fn shares_stores(&self) -> bool {
        matches!(self.stores, Stores::Redis(_))
    }

    /// Every value in effect, sorted, as `key = value   # where it came from`; secrets as `(secret)`.
    pub fn show(&self) -> impl Iterator<Item = String> {
        self.shown.iter().map(|(key, (value, origin))| format!("{key} = {value}   # {origin}"))
    }

    fn of_draft(mut draft: Draft) -> Result<Self, Faults> {
        rules::apply_rules(&mut draft);
        let whole = Key::default();
        let top: Option<Top> = typed::read(&mut draft, &whole, SECTIONS);
        let log: Option<Log> = typed::read(&mut draft, &whole.child("log"), &[]);
        let ops: Option<Ops> = typed::read(&mut draft, &whole.child("ops"), &[]);
        let engines = engines::read_engines(&mut draft);
        let scheduler: Option<scheduler::Settings> = typed::read(&mut draft, &whole.child("scheduler"), &[]);
        let ingest: Option<ingest::Settings> = typed::read(&mut draft, &whole.child("ingest"), &[]);
        let access = access::read_access(&mut draft);
        let channels = channels::read_channels(&mut draft);
        let sender = sender_settings::read_sender(&mut draft, channels::slowest(&channels));
        let campaigns = campaigns::read_campaigns(&mut draft);
        let mut faults = std::mem::take(&mut draft.faults);
        faults.0.sort_by(|a, b| a.setting.cmp(&b.setting));
        match (top, log, ops, engines, scheduler, sender, ingest) {
            (
                Some(top),
                Some(log),
                Some(ops),
                Some((stores, queue)),
                Some(scheduler),
                Some(sender),
                Some(ingest),
            ) if faults.0.is_empty() => {
                let mut warnings = std::mem::take(&mut draft.warnings);
                if top.rehearsal {
                    warnings.push("rehearsal = true: the clock of this installation can be moved".to_owned());
                }
                let (data, rehearsal, shown) = (top.data, top.rehearsal, show::Shown::new());
                let mut config = Self {
                    data,
                    rehearsal,
                    log,
                    ops,
                    stores,
                    queue,
                    scheduler,
                    sender,
                    ingest,
                    access,
                    channels,
                    campaigns,
                    warnings,
                    shown,
                };
                config.shown = show::shown(&draft, &config);
                Ok(config)
            }
            _ => Err(faults),
        }
    }
}
