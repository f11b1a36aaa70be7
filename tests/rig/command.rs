use std::{path::PathBuf, process::Stdio, time::Duration};

use serde_json::Value;
use tokio::process::Command;

/// The longest a one-shot command may take.
const LONGEST: Duration = Duration::from_secs(240);

/// A command that ended.
#[derive(Debug)]
pub struct Done {
    /// The command line, for messages.
    pub line: String,
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote.
    pub stdout: String,
    /// What it complained of or logged.
    pub stderr: String,
}

impl Done {
    /// Ends the test unless the exit code is this and nothing panicked.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        assert!(!self.stderr.contains("panicked"), "{self}");
        self
    }

    /// The last line of what it wrote, as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|e| panic!("the last line is no JSON, {e}: {self}"))
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut = |text: &str| text.chars().take(4_000).collect::<String>();
        write!(
            f,
            "{} ended with {:?}\n-- stdout\n{}\n-- stderr\n{}",
            self.line,
            self.code,
            cut(&self.stdout),
            cut(&self.stderr)
        )
    }
}

/// Runs the program to its end.
pub(crate) async fn run(args: &[&str]) -> Done {
    let line = format!("stepcast {}", args.join(" "));
    let child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = tokio::time::timeout(LONGEST, child.wait_with_output()).await;
    let output = output.unwrap_or_else(|_| panic!("{line}: not over after {LONGEST:?}")).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Done { line, code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The program with an empty environment: no setting of the machine reaches it. It dies with the test.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(args).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The program of the same build profile as the tests: beside the folder their own file lies in.
pub fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().and_then(|deps| deps.parent()).unwrap().join("stepcast");
    assert!(path.is_file(), "{} is not there: `cargo build -p stepcast` makes it", path.display());
    path
}
