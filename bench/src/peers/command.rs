use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use crate::{process, profile::micros_per, size::Size};

/// What a program that measures itself tells.
pub(super) struct Told {
    /// The seconds it printed.
    pub(super) seconds: f64,
    cpu: Duration,
}

impl Told {
    /// Its CPU a user, its start included.
    pub(super) fn cpu_per_user(&self, users: u64) -> f64 {
        micros_per(self.cpu, users)
    }
}

/// How long it may take at medium.
const MOST: f64 = 180.0;

/// Runs a program that prints the seconds its work took; killed when it takes too long.
pub(super) fn seconds(command: &mut Command, size: Size) -> anyhow::Result<Told> {
    let before = process::children_cpu()?;
    let limit = Instant::now() + Duration::from_secs_f64(size.bound(MOST, MOST / 2.0));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    while child.try_wait()?.is_none() {
        if Instant::now() > limit {
            child.kill()?;
            child.wait()?;
            bail!("{command:?} did not end in time");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let done = child.wait_with_output()?;
    if !done.status.success() {
        bail!("{command:?}: {}", done.status);
    }
    let told = String::from_utf8_lossy(&done.stdout);
    let seconds = told.trim().parse().with_context(|| format!("{command:?} printed {told:?}"))?;
    Ok(Told { seconds, cpu: process::children_cpu()?.saturating_sub(before) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_last_word_is_the_seconds() {
        assert_eq!(seconds(&mut shell("echo 1.5"), Size::Small).unwrap().seconds, 1.5);
        assert!(seconds(&mut shell("echo fast"), Size::Small).is_err());
        assert!(seconds(&mut shell("echo 1; exit 3"), Size::Small).is_err());
    }
}
