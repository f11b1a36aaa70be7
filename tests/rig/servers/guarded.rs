use std::{
    fs::OpenOptions,
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::Duration,
};

use crate::signal::signal;

/// A server and the shell that guards it, in one process group. The group is killed when the value is dropped, and also
/// when the test's process is gone: then the shell's standard input ends.
#[derive(Debug)]
pub(super) struct Guarded {
    guardian: Child,
    /// The guardian's input, apart from it: to wait for a child closes its input.
    line: Option<ChildStdin>,
    server: i64,
    log: PathBuf,
}

/// Starts the server, tells its id, and ends with it; when its own input ends before, takes away the folder, which nobody is
/// left to do, and kills the whole group. (`kill -9 -- -N` is not known to every shell, `kill -s` is.)
const GUARDIAN: &str = r#"exec 3<&0
"$@" </dev/null >>"$LOG" 2>&1 3<&- &
server=$!
echo "$server"
(cat <&3 >/dev/null; rm -rf -- "${LOG%/*}"; kill -s KILL -- "-$$") >/dev/null 2>&1 &
exec >/dev/null 2>&1
wait "$server""#;

impl Guarded {
    /// Starts `command` (a program and its arguments) with these variables in the environment beside PATH; what it says is added
    /// to the file `log`.
    pub(super) fn start(command: &[&str], variables: &[(&str, String)], log: &Path) -> Self {
        OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", GUARDIAN, "guardian"]).args(command).env_clear();
        shell.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin").env("LOG", log);
        shell.envs(variables.iter().map(|(name, value)| (*name, value)));
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut guardian = shell.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(guardian.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let line = guardian.stdin.take();
        Self { guardian, line, server: said.trim().parse().unwrap(), log: log.to_owned() }
    }

    /// Sends the server, and only it, a signal.
    pub(super) fn signal(&self, name: &str) {
        signal(name, self.server);
    }

    /// Sends the whole group a signal: for a server that is several processes.
    pub(super) fn signal_all(&self, name: &str) {
        signal(name, -i64::from(self.guardian.id()));
    }

    /// Waits until the server ended by itself, after a signal.
    pub(super) fn wait(mut self) {
        self.guardian.wait().unwrap();
    }

    /// Whether the server ended.
    pub(super) fn ended(&mut self) -> bool {
        self.guardian.try_wait().unwrap().is_some()
    }

    /// The end of what the server said.
    pub(super) fn said(&self) -> String {
        let text = String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned();
        let lines: Vec<_> = text.lines().rev().take(30).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // the shell that waits for the end of its input is in the group for as long as the line is open: the group's number
        // is nobody else's
        self.signal_all("KILL");
        drop(self.line.take());
        let _ = self.guardian.wait();
        while alive(self.guardian.id()) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Whether a process group has a process that has not ended: a port is free only when its owner is gone.
fn alive(group: u32) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = processes.filter_map(|p| std::fs::read_to_string(p.path().join("stat")).ok());
    let mut after_names = stats.filter_map(|stat| Some(stat.rsplit_once(')')?.1.to_owned()));
    after_names.any(|rest| {
        // proc(5): the state is the first field behind the name, the group the third, the number of threads the eighteenth;
        // the first thread of a process may have ended, and the others still hold its sockets
        let fields: Vec<_> = rest.split_whitespace().collect();
        let number = |field: usize| fields.get(field).and_then(|text| text.parse::<u32>().ok());
        let ended =
            matches!(fields.first(), Some(&("Z" | "X"))) && number(17).is_none_or(|threads| threads <= 1);
        !ended && number(2) == Some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_ends_with_the_process_that_owned_it_even_if_nothing_was_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("data");
        std::fs::create_dir(&inner).unwrap();
        let mut guarded = Guarded::start(&["sleep", "600"], &[], &inner.join("log"));
        let group = guarded.guardian.id();
        assert!(alive(group));
        // what the system does when the process is gone
        drop(guarded.line.take());
        guarded.guardian.wait().unwrap();
        while alive(group) {
            thread::sleep(Duration::from_millis(2));
        }
        assert!(!inner.exists());
        // the group is gone, and its number may be somebody else's
        std::mem::forget(guarded);
    }
}
