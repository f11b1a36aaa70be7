use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use tempfile::TempDir;

use crate::{
    Done, Person, Running,
    command::run,
    people::{steps_csv, users_csv},
    running,
};

/// A temporary folder with a configuration file, a data folder and whatever a test puts there; gone when dropped.
#[derive(Debug)]
pub struct Site {
    folder: TempDir,
}

impl Site {
    /// A new one with these settings (TOML tables) beside its own: data folder, rehearsal, an ops port that is free.
    pub fn new(settings: &str) -> Self {
        let site = Self { folder: tempfile::Builder::new().prefix("stepcast-it-").tempdir().unwrap() };
        site.configure(settings);
        site
    }

    /// Writes the configuration file anew.
    pub fn configure(&self, settings: &str) {
        let mut own =
            format!("data = {:?}\nrehearsal = true\n[ops]\nlisten = \"127.0.0.1:0\"\n", self.data());
        if !settings.contains("[ingest]") {
            own += "[ingest]\nlisten = \"127.0.0.1:0\"\n";
        }
        self.file("stepcast.toml", format!("{own}{settings}"));
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// The data file.
    pub fn data_file(&self) -> PathBuf {
        self.data().join("stepcast.redb")
    }

    /// The place of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder and answers its path as text.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        text(&path)
    }

    /// Runs a one-shot command with the configuration of this folder.
    pub async fn command(&self, args: &[&str]) -> Done {
        let config = text(&self.path("stepcast.toml"));
        run(&[&["--config", &config], args].concat()).await
    }

    /// Imports people and their steps of `day`; nothing else may be wrong with them.
    pub async fn settle(&self, people: &[Person], day: &str) {
        let users = self.file("users.csv", users_csv(people));
        let steps = self.file("steps.csv", steps_csv(people, day));
        self.command(&["import", "users", &users]).await.expect(0);
        self.command(&["import", "steps", &steps]).await.expect(0);
    }

    /// Starts `stepcast run` with its clock set to about `at`, and waits until its ops API answers.
    pub async fn start(&self, at: &str) -> Running {
        self.spawn(&shift_to(at)).ready().await
    }

    /// Starts `stepcast run` and waits for nothing.
    pub fn spawn(&self, shift: &str) -> Running {
        self.spawn_daemon(&["run"], shift)
    }

    /// Starts a daemon, `["scheduler", "run"]`, and waits for nothing.
    pub fn spawn_daemon(&self, daemon: &[&str], shift: &str) -> Running {
        let config = text(&self.path("stepcast.toml"));
        let args = [&["--config", &config], daemon, &["--clock-shift", shift]].concat();
        running::spawn(&self.data(), &self.path("run.log"), &args)
    }
}

/// The value of `--clock-shift` with which a clock shows `at` (RFC 3339) now.
pub fn shift_to(at: &str) -> String {
    let at: DateTime<Utc> = at.parse().unwrap();
    format!("{}s", at.signed_duration_since(Utc::now()).num_seconds())
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
