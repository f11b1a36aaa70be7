//! What the system knows of a process, from /proc (proc(5)).

use std::{fs, process::Command, time::Duration};

use anyhow::{Context, bail};

/// CPU time of a process so far, user and system, all its threads: fields 14 and 15 of `/proc/PID/stat`.
pub(crate) fn cpu(pid: u32) -> anyhow::Result<Duration> {
    ticks(&stat(&pid.to_string())?, 14)
}

/// CPU time so far of a process and of all that it has started, wherever they stand below it, whether they still run or have
/// ended and were waited for: one that ends between two looks takes nothing of the first away from the second.
pub(crate) fn tree_cpu(pid: u32) -> anyhow::Result<Duration> {
    let whole = |pid: u32| {
        let stat = stat(&pid.to_string())?;
        Ok::<_, anyhow::Error>(ticks(&stat, 14)? + ticks(&stat, 16)?)
    };
    let own = whole(pid)?;
    // those that end meanwhile count with the next look
    let below = below(pid)?.into_iter().filter_map(|pid| whole(pid).ok());
    Ok(own + below.sum::<Duration>())
}

/// CPU time of this process' children that have ended and were waited for: fields 16 and 17.
pub(crate) fn children_cpu() -> anyhow::Result<Duration> {
    ticks(&stat("self")?, 16)
}

/// The most memory it has held at once, in bytes: `VmHWM` of `/proc/PID/status`.
pub(crate) fn peak_memory(pid: u32) -> anyhow::Result<u64> {
    bytes_of(&format!("/proc/{pid}/status"), "VmHWM")
}

/// Bytes it has caused to be written to the disk so far: `write_bytes` of `/proc/PID/io`.
pub(crate) fn written(pid: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{pid}/io");
    let text = fs::read_to_string(&path).with_context(|| path.clone())?;
    number(&text, "write_bytes").with_context(|| format!("{path}: write_bytes"))
}

/// A line such as `VmHWM:  1234 kB`, in bytes.
pub(crate) fn bytes_of(path: &str, name: &str) -> anyhow::Result<u64> {
    let text = fs::read_to_string(path).with_context(|| path.to_owned())?;
    let kib = number(&text, name).with_context(|| format!("{path}: {name}"))?;
    Ok(kib * 1_024)
}

/// The processes below this one.
fn below(pid: u32) -> anyhow::Result<Vec<u32>> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").context("/proc")?.flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = stat(&child.to_string()) else { continue };
        parents.extend(parent(&stat).map(|parent| (child, parent)));
    }
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&above) = found.get(next) {
        found.extend(
            parents.iter().filter(|(child, parent)| *parent == above && *child != pid).map(|(c, _)| c),
        );
        next += 1;
    }
    found.remove(0);
    Ok(found)
}

/// Field 4 of `/proc/PID/stat`.
fn parent(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn number(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

fn stat(of: &str) -> anyhow::Result<String> {
    let path = format!("/proc/{of}/stat");
    fs::read_to_string(&path).context(path)
}

/// The sum of the field numbered `first` (from 1) and the next, in clock ticks.
fn ticks(stat: &str, first: usize) -> anyhow::Result<Duration> {
    let sum = sum_of(stat, first).context("/proc/PID/stat has another form")?;
    Ok(Duration::from_secs(1) * sum / ticks_per_second()?)
}

fn sum_of(stat: &str, first: usize) -> Option<u32> {
    // the name, in brackets, may hold blanks and brackets; field 3 follows its last bracket
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(first.checked_sub(3)?);
    let mut next = || fields.next()?.parse::<u32>().ok();
    next()?.checked_add(next()?)
}

fn ticks_per_second() -> anyhow::Result<u32> {
    let told = Command::new("getconf").arg("CLK_TCK").output().context("getconf CLK_TCK")?;
    match String::from_utf8_lossy(&told.stdout).trim().parse() {
        Ok(ticks) if ticks > 0 => Ok(ticks),
        _ => bail!("getconf CLK_TCK does not tell a number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_moves_no_field() {
        // fields 14 to 17 are 310, 42, 7 and 9
        let stat = "71 (a) b (c)) S 1 71 71 0 -1 4194560 100 200 0 0 310 42 7 9 20 0 5 0 12345 1 2";
        assert_eq!(sum_of(stat, 14), Some(352));
        assert_eq!(sum_of(stat, 16), Some(16));
        assert_eq!(sum_of("71 (a", 14), None);
        assert_eq!((parent(stat), parent("71 (a")), (Some(1), None));
    }

    #[test]
    fn this_process_has_worked_and_holds_memory() {
        let pid = std::process::id();
        let before = cpu(pid).unwrap();
        let mut hash = 0u64;
        while cpu(pid).unwrap() < before + Duration::from_millis(30) {
            hash = std::hint::black_box(hash.wrapping_mul(31).wrapping_add(7));
        }
        assert!(peak_memory(pid).unwrap() > 1 << 20);
        written(pid).unwrap();
        children_cpu().unwrap();
    }

    #[test]
    fn what_a_child_of_a_child_works_counts() {
        let script = "sh -c 'n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; echo done; read end; :'; :";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
            .unwrap();
        assert_eq!((line.as_str(), below(child.id()).unwrap().len()), ("done\n", 1));
        assert!(tree_cpu(child.id()).unwrap() > cpu(child.id()).unwrap());
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn a_child_that_ended_counts_on() {
        let script = "sh -c 'n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; echo done; read go'; echo ended; read end";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut told = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut told, &mut line).unwrap();
            line
        };
        assert_eq!(line(), "done\n");
        let before = tree_cpu(child.id()).unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
        assert_eq!(line(), "ended\n");
        assert!(below(child.id()).unwrap().is_empty());
        assert!(before > cpu(child.id()).unwrap() && tree_cpu(child.id()).unwrap() >= before);
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        let error = format!("{:#}", cpu(u32::MAX).unwrap_err());
        assert!(error.contains("/proc/4294967295/stat"), "{error}");
    }

    #[test]
    fn names_that_begin_alike_are_told_apart() {
        let text = "VmHWMx:\t 7 kB\nVmHWM:\t 2048 kB\n";
        assert_eq!(number(text, "VmHWM"), Some(2_048));
        assert_eq!(number(text, "VmRSS"), None);
    }
}
