//! After the night: the same program goes on, and a person can ask it things.

use std::path::Path;

use chrono::Utc;
use domain::{Night, Uid};
use tokio_util::sync::CancellationToken;

use crate::{
    commands::{self, Roles, Running},
    program::Program,
};

/// The running program, until [`Afterwards::end`].
pub(super) struct Afterwards {
    running: Running,
    stop: CancellationToken,
}

impl Afterwards {
    /// Sets the clock back to the real time and goes on as `stepcast run` does.
    pub(super) async fn begin(program: &Program) -> anyhow::Result<Self> {
        program.clock.move_to(Utc::now());
        let stop = CancellationToken::new();
        let running = commands::start(program, Roles::ALL, stop.clone()).await?;
        Ok(Self { running, stop })
    }

    /// Lets the parts end; whether all did.
    pub(super) async fn end(self) -> bool {
        self.stop.cancel();
        self.running.drain().await
    }

    /// What a person can do meanwhile, ready to be copied into another terminal.
    pub(super) fn hints(&self, data: &Path, night: &Night, uid: Uid) -> String {
        let program = std::env::current_exe().ok();
        hints(&self.running.address.to_string(), data, program.as_deref(), night, uid)
    }
}

fn hints(address: &str, data: &Path, program: Option<&Path>, night: &Night, uid: Uid) -> String {
    let (campaign, day) = (&night.campaign, night.day);
    let of = format!("--campaign {campaign} --day {day}");
    let mut lines = vec![
        "It goes on as `stepcast run` until Ctrl-C, then the folder is removed.".to_owned(),
        "In another terminal:".to_owned(),
        String::new(),
        format!("  export STEPCAST_DATA={}", quoted(data)),
    ];
    if let Some(folder) = program.and_then(Path::parent) {
        lines.push(format!("  export PATH={}:\"$PATH\"", quoted(folder)));
    }
    for command in [
        format!("stepcast night show {of} --recount"),
        format!("stepcast why {uid} {of}"),
        format!("stepcast store get {uid} --day {day}"),
        "stepcast dead list".to_owned(),
        format!("stepcast zones audit --campaign {campaign} --zone Pacific/Easter --days 7"),
        format!("curl http://{address}/metrics    # and /livez, /readyz"),
    ] {
        lines.push(format!("  {command}"));
    }
    lines.join("\n") + "\n"
}

/// A path as a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(&b)) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_folder_and_the_night() {
        let night = Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() };
        let (data, program) = (Path::new("/tmp/stepcast-demo-x"), Path::new("/a b/stepcast"));
        let hints = hints("127.0.0.1:4711", data, Some(program), &night, Uid(17));
        for wanted in [
            "  export STEPCAST_DATA=/tmp/stepcast-demo-x\n",
            "  export PATH='/a b':\"$PATH\"\n",
            "  stepcast night show --campaign nightly --day 20260607 --recount\n",
            "  stepcast why 17 --campaign nightly --day 20260607\n",
            "  stepcast store get 17 --day 20260607\n",
            "  curl http://127.0.0.1:4711/metrics ",
        ] {
            assert!(hints.contains(wanted), "{wanted:?} is wanted in\n{hints}");
        }
        assert!(hints.lines().all(|line| line.chars().count() <= 79), "{hints}");
    }

    #[test]
    fn odd_paths_are_one_word() {
        assert_eq!(quoted(Path::new("/tmp/a-b_c.d")), "/tmp/a-b_c.d");
        assert_eq!(quoted(Path::new("/tmp/it's")), r"'/tmp/it'\''s'");
        assert_eq!(quoted(Path::new("/tmp/$HOME")), "'/tmp/$HOME'");
    }
}
