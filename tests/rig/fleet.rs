use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{Done, Person, Running, Site, shift_to, wait::until};

/// Between two looks at a daemon's health.
const PAUSE: Duration = Duration::from_millis(100);

/// Schedulers and senders over the same servers, as many processes, each with a data folder of its own. Where the test fails,
/// what each of them logged last is printed.
#[derive(Debug)]
pub struct Fleet {
    settings: String,
    shift: String,
    daemons: BTreeMap<&'static str, Daemon>,
    /// What operator commands run with.
    operator: Site,
}

/// A daemon's part in the night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `stepcast scheduler run`.
    Scheduler,
    /// `stepcast sender run`.
    Sender,
    /// `stepcast ingest run`.
    Ingest,
}

/// One process of a fleet, at work or between two starts.
#[derive(Debug)]
pub struct Daemon {
    site: Site,
    role: Role,
    shift: String,
    running: Option<Running>,
}

impl Fleet {
    /// One without daemons, whose clocks show `at` (RFC 3339) now. `settings` hold for all: stores, queue, channels, campaigns.
    pub fn new(settings: &str, at: &str) -> Self {
        Self {
            settings: settings.to_owned(),
            shift: shift_to(at),
            daemons: BTreeMap::new(),
            operator: Site::new(settings),
        }
    }

    /// Imports people and their steps of `day`.
    pub async fn settle(&self, people: &[Person], day: &str) {
        self.operator.settle(people, day).await;
    }

    /// Starts one more daemon and waits until its ops API answers.
    pub async fn start(&mut self, name: &'static str, role: Role) {
        let (settings, shift) = (self.settings.clone(), self.shift.clone());
        self.start_with(name, role, &settings, &shift).await;
    }

    /// The same with settings or a clock of its own.
    pub async fn start_with(&mut self, name: &'static str, role: Role, settings: &str, shift: &str) {
        let daemon = Daemon { site: Site::new(settings), role, shift: shift.to_owned(), running: None };
        assert!(self.daemons.insert(name, daemon).is_none(), "there is a {name}");
        self.restart(name).await;
    }

    /// Starts a daemon again that was killed or stopped, with its settings, folder and clock as before.
    pub async fn restart(&mut self, name: &str) {
        let daemon = self.daemon(name);
        daemon.running = Some(daemon.spawn());
        let running = daemon.running.take().unwrap().ready().await;
        daemon.running = Some(running);
    }

    /// The same, but waits for nothing.
    pub fn spawn(&mut self, name: &str) {
        let daemon = self.daemon(name);
        daemon.running = Some(daemon.spawn());
    }

    /// Ends a daemon by SIGKILL.
    pub async fn kill(&mut self, name: &str) {
        self.daemon(name).running.take().expect("it runs").kill().await;
    }

    /// Asks a daemon to end by SIGTERM; ends the test unless it does so in good order.
    pub async fn stop(&mut self, name: &str) {
        let running = self.daemon(name).running.take().expect("it runs");
        assert_eq!(running.stop().await.code(), Some(0), "{name} did not stop in good order");
    }

    /// Stops a daemon in its tracks, or lets it go on.
    pub fn freeze(&self, name: &str, frozen: bool) {
        self.running(name).signal(if frozen { "STOP" } else { "CONT" });
    }

    /// A daemon that runs.
    pub fn running(&self, name: &str) -> &Running {
        self.daemons[name].running.as_ref().unwrap_or_else(|| panic!("{name} does not run"))
    }

    /// The daemons that run, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Running)> {
        self.daemons.iter().filter_map(|(&name, daemon)| Some((name, daemon.running.as_ref()?)))
    }

    /// Waits until every daemon that runs is ready, and ends the test when one is not within `most`.
    pub async fn healthy(&self, most: Duration) {
        for (name, running) in self.all() {
            let start = Instant::now();
            while let Err(fault) = running.readiness().await {
                assert!(start.elapsed() < most, "{name} is still unready after {most:?}: {fault}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Waits until a daemon is unready, and answers what it complains of.
    pub async fn unready(&self, name: &'static str, most: Duration) -> String {
        self.first_unready(&[name], most).await.1
    }

    /// Waits until one of these daemons is unready, and answers which, and what it complains of.
    pub async fn first_unready(&self, names: &[&'static str], most: Duration) -> (&'static str, String) {
        until(&format!("one of {names:?} to be unready"), most, async || {
            for name in names {
                if let Err(fault) = self.running(name).readiness().await {
                    return Some((*name, fault));
                }
            }
            None
        })
        .await
    }

    /// Runs an operator command with the settings of all.
    pub async fn command(&self, args: &[&str]) -> Done {
        self.operator.command(args).await
    }

    /// Writes a file for an operator command, and answers its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        self.operator.file(name, content)
    }

    /// The sums of a night as any daemon tells them; `None` where none answers or the night is not sealed.
    pub async fn night(&self, campaign: &str, day: &str) -> Option<Value> {
        for (_, running) in self.all() {
            if let Some(night) = running.night(campaign, day).await {
                return Some(night);
            }
        }
        None
    }

    /// What `--clock-shift` all daemons get.
    pub fn shift(&self) -> &str {
        &self.shift
    }

    /// The settings of all.
    pub fn settings(&self) -> &str {
        &self.settings
    }

    fn daemon(&mut self, name: &str) -> &mut Daemon {
        self.daemons.get_mut(name).unwrap_or_else(|| panic!("there is no {name}"))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for (name, daemon) in &self.daemons {
                eprintln!("== the last words of {name}\n{}", daemon.last_words());
            }
        }
    }
}

impl Daemon {
    fn spawn(&self) -> Running {
        let command = match self.role {
            Role::Scheduler => "scheduler",
            Role::Sender => "sender",
            Role::Ingest => "ingest",
        };
        self.site.spawn_daemon(&[command, "run"], &self.shift)
    }

    fn last_words(&self) -> String {
        let log = std::fs::read(self.site.path("run.log")).unwrap_or_default();
        let text = String::from_utf8_lossy(&log).into_owned();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}
