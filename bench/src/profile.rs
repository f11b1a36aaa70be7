use std::{collections::BTreeMap, time::Duration};

use crate::{measure::CpuPerUser, process};

/// The CPU of several processes, from a moment on.
pub(crate) struct Profile {
    from: BTreeMap<&'static str, (u32, Duration)>,
}

impl Profile {
    /// Begins now; each process has a name and an id.
    pub(crate) fn begin(processes: &[(&'static str, u32)]) -> anyhow::Result<Self> {
        let from = processes.iter().map(|&(name, pid)| Ok((name, (pid, process::cpu(pid)?))));
        Ok(Self { from: from.collect::<anyhow::Result<_>>()? })
    }

    /// What they used until now.
    pub(crate) fn per_user(&self, users: u64) -> anyhow::Result<CpuPerUser> {
        let used = self.from.iter().map(|(name, &(pid, before))| {
            let used = process::cpu(pid)?.saturating_sub(before);
            Ok((*name, micros_per(used, users)))
        });
        used.collect()
    }
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
        let profile = Profile::begin(&[("bench", std::process::id())]).unwrap();
        let used = profile.per_user(1_000_000).unwrap();
        assert!(used["bench"] < 100.0, "{used:?}");
        assert_eq!(micros_per(Duration::from_secs(2), 100_000), 20.0);
    }
}
