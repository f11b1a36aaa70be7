use std::process::Command;

/// Sends a signal ("TERM", "KILL", "STOP", "CONT") to a process of ours, or to a group of them by its negative number.
#[track_caller]
pub(crate) fn signal(name: &str, to: i64) {
    // a shell's own `kill` is there wherever a shell is
    let sent = Command::new("sh").args(["-c", "kill -s \"$0\" -- \"$1\"", name, &to.to_string()]).status();
    assert!(sent.unwrap().success(), "SIG{name} could not be sent to {to}");
}
