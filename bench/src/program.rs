//! The program that is measured: built, set up in a folder of its own, and run there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::daemon::Daemon;

/// Builds the release `stepcast`, which takes no time where it is fresh, and tells where it lies.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--release",
        "--package",
        "stepcast",
        "--message-format",
        "json-render-diagnostics",
    ]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit());
    let built = cargo.output().context("cargo build --release --package stepcast")?;
    if !built.status.success() {
        bail!("cargo build --release --package stepcast: {}", built.status);
    }
    let told = String::from_utf8_lossy(&built.stdout);
    told.lines().find_map(executable).context("cargo does not tell where it put stepcast")
}

/// Where one line of cargo's messages says that the program is.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let ours =
        message["target"]["name"] == "stepcast" && message["target"]["kind"] == serde_json::json!(["bin"]);
    message["executable"].as_str().filter(|_| ours).map(PathBuf::from)
}

/// A new folder beside the program, which goes when this is dropped: a temporary folder of the system may be one in
/// memory, where nothing has to reach a disk.
pub(crate) fn folder(program: &Path) -> anyhow::Result<TempDir> {
    let program = program.canonicalize().with_context(|| program.display().to_string())?;
    let beside = program.parent().context("the program lies in no folder")?;
    Ok(tempfile::Builder::new().prefix("bench-").tempdir_in(beside)?)
}

/// An installation in a temporary folder, which goes with it.
pub(crate) struct Home {
    program: PathBuf,
    folder: TempDir,
    trusted: Option<PathBuf>,
}

impl Home {
    /// A folder with this configuration; `data` is added to it.
    pub(crate) fn make(program: &Path, config: &str) -> anyhow::Result<Self> {
        let program = program.canonicalize().with_context(|| program.display().to_string())?;
        let folder = folder(&program)?;
        let home = Self { program, folder, trusted: None };
        let data = Value::from(home.data().to_string_lossy());
        // a JSON text is a TOML text
        fs::write(home.path("stepcast.toml"), format!("data = {data}\n{config}"))?;
        Ok(home)
    }

    /// The same, trusting the certificates of this PEM file in place of the system's.
    pub(crate) fn trusting(self, certificates: Option<&Path>) -> Self {
        Self { trusted: certificates.map(Path::to_owned), ..self }
    }

    /// A file of the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Runs a one-shot command and reads the JSON it prints.
    pub(crate) fn ask(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let what = || format!("stepcast {}", arguments.join(" "));
        let done = self.command(arguments).output().with_context(what)?;
        if !done.status.success() {
            bail!("{}: {}\n{}", what(), done.status, String::from_utf8_lossy(&done.stderr).trim());
        }
        serde_json::from_slice(&done.stdout).with_context(what)
    }

    /// Starts a daemon; its log goes to a file of the folder.
    pub(crate) fn start(&self, arguments: &[&str]) -> anyhow::Result<Daemon> {
        Daemon::start("stepcast", &mut self.command(arguments), self.path("daemon.log"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        // nobody's STEPCAST_* is to change what is measured
        command.env_clear().arg("--config").arg(self.path("stepcast.toml")).args(arguments);
        command.stdin(Stdio::null());
        command.envs(self.trusted.iter().map(|file| ("SSL_CERT_FILE", file)));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_told_from_the_rest_of_the_build() {
        let library =
            r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"stepcast"},"executable":null}"#;
        let other = r#"{"target":{"kind":["bin"],"name":"bench"},"executable":"/t/release/bench"}"#;
        let ours = r#"{"target":{"kind":["bin"],"name":"stepcast"},"executable":"/t/release/stepcast"}"#;
        assert_eq!(executable(library), None);
        assert_eq!(executable(other), None);
        assert_eq!(executable("not JSON"), None);
        assert_eq!(executable(ours), Some(PathBuf::from("/t/release/stepcast")));
    }

    /// A stand-in for the program: answers with its arguments, or sleeps until it is told to end.
    fn home(script: &str) -> (TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("stepcast");
        // a shell writes it: a file that this process has open for writing, and thus any child forked meanwhile by
        // another test, could not be run
        let mut write = Command::new("sh");
        write.args(["-c", r#"printf '#!/bin/sh\n%s\n' "$0" > "$1" && chmod +x "$1""#, script]).arg(&program);
        assert!(write.status().unwrap().success());
        let home = Home::make(&program, "rehearsal = true\n").unwrap();
        (folder, home)
    }

    #[test]
    fn a_command_is_given_the_configuration_and_its_answer_is_read() {
        let (_folder, home) = home(r#"printf '{"config":"%s","rest":"%s"}' "$2" "$3""#);
        let told = home.ask(&["night"]).unwrap();
        let config = PathBuf::from(told["config"].as_str().unwrap());
        assert_eq!(told["rest"], "night");
        let text = fs::read_to_string(config).unwrap();
        assert_eq!(text, format!("data = \"{}\"\nrehearsal = true\n", home.data().display()));
    }

    #[test]
    fn a_command_that_fails_is_named_with_what_it_said() {
        let (_folder, home) = home("echo 'no such night' >&2; exit 1");
        let error = home.ask(&["night", "show"]).unwrap_err().to_string();
        assert!(error.contains("stepcast night show") && error.contains("no such night"), "{error}");
    }

    #[tokio::test]
    async fn a_daemon_ends_when_asked_and_its_end_is_noticed() {
        let (_folder, home) = home("trap 'exit 0' TERM; echo up >&2; while :; do :; done");
        let mut daemon = home.start(&["run"]).unwrap();
        daemon.check().unwrap();
        while daemon.last_lines() != "up" {
            tokio::task::yield_now().await;
        }
        daemon.end().await.unwrap();

        let (_folder, home) = self::home("echo broken >&2; exit 78");
        let mut daemon = home.start(&["run"]).unwrap();
        let error = loop {
            if let Err(error) = daemon.check() {
                break error.to_string();
            }
        };
        assert!(error.contains("78") && error.contains("broken"), "{error}");
    }
}
