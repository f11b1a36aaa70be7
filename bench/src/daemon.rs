use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// How long a daemon may take to end after the signal.
const ENDING: Duration = Duration::from_secs(30);

/// A process that runs until it is told to end; killed, by its id, when this is dropped, or when this process ends in
/// whatever way.
pub(crate) struct Daemon {
    name: &'static str,
    child: Child,
    /// Ends the process when its own input ends, which it does with this process.
    watch: Child,
    log: PathBuf,
}

impl Daemon {
    /// Starts it; what it says goes to `log`.
    pub(crate) fn start(name: &'static str, command: &mut Command, log: PathBuf) -> anyhow::Result<Self> {
        let file = File::create(&log).with_context(|| log.display().to_string())?;
        let child = command.stdout(file.try_clone()?).stderr(file).spawn();
        let mut child = child.with_context(|| format!("{name}: {command:?}"))?;
        let mut watch = Command::new("sh");
        watch.args(["-c", "read -r line; kill -KILL \"$0\"", &child.id().to_string()]);
        match watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Ok(watch) => Ok(Self { name, child, watch, log }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error).with_context(|| format!("sh, to watch {name}"))
            }
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Fails, with the end of its log, where it does not run any more.
    pub(crate) fn check(&mut self) -> anyhow::Result<()> {
        match self.ended()? {
            None => Ok(()),
            Some(status) => bail!("{} ended: {status}\n{}", self.name, self.last_lines()),
        }
    }

    /// The last lines of its log.
    pub(crate) fn last_lines(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Asks it to end, and waits for it.
    pub(crate) async fn end(mut self) -> anyhow::Result<()> {
        let asked = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status().context("kill")?;
        let until = Instant::now() + ENDING;
        let name = self.name;
        while asked.success() && Instant::now() < until {
            match self.ended()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("{name} ended badly: {status}\n{}", self.last_lines()),
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        bail!("{name} did not end within {ENDING:?}\n{}", self.last_lines())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // one that has ended cannot be killed, and there is nobody left to tell; the watch goes first, since it knows the
        // process by its number alone
        for process in [&mut self.watch, &mut self.child] {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watch_ends_it_when_its_own_input_does() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sleep");
        let mut daemon = Daemon::start("sleep", command.arg("60"), folder.path().join("log")).unwrap();
        daemon.check().unwrap();
        drop(daemon.watch.stdin.take());
        let status = daemon.child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
        assert!(daemon.check().unwrap_err().to_string().starts_with("sleep ended: "));
    }
}
