use std::time::Duration;

use crate::{measure::CpuPerUser, process};

/// The CPU of several processes from a moment on, each with all it has started; this one alone, since it starts all
/// others.
pub(crate) struct Profile {
    from: Vec<(&'static str, u32, Duration)>,
}

impl Profile {
    /// Begins now; each process has a name and an id. Those of one name are added up.
    pub(crate) fn begin(processes: &[(&'static str, u32)]) -> anyhow::Result<Self> {
        let from = processes.iter().map(|&(name, pid)| Ok((name, pid, cpu(pid)?)));
        Ok(Self { from: from.collect::<anyhow::Result<_>>()? })
    }

    /// What they used until now.
    pub(crate) fn per_user(&self, users: u64) -> anyhow::Result<CpuPerUser> {
        let mut used = CpuPerUser::new();
        for &(name, pid, before) in &self.from {
            let since = cpu(pid)?.saturating_sub(before);
            *used.entry(name).or_default() += micros_per(since, users);
        }
        Ok(used)
    }
}

fn cpu(pid: u32) -> anyhow::Result<Duration> {
    if pid == std::process::id() { process::cpu(pid) } else { process::tree_cpu(pid) }
}

/// Microseconds a user.
#[allow(clippy::cast_precision_loss, reason = "figures for people to read")]
pub(crate) fn micros_per(time: Duration, users: u64) -> f64 {
    time.as_secs_f64() * 1e6 / users.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_moment_costs_next_to_nothing() {
        let own = std::process::id();
        let profile = Profile::begin(&[("bench", own), ("bench", own)]).unwrap();
        let used = profile.per_user(1_000_000).unwrap();
        assert!(used.len() == 1 && used["bench"] < 200.0, "{used:?}");
        assert_eq!(micros_per(Duration::from_secs(2), 100_000), 20.0);
    }
}
