use super::{super::Durability, facts::Facts};

/// The oldest version that is known to do (major, minor): its scripts see the effects of their own writes replicated,
/// and `INFO` tells all that is asked.
const OLDEST: (u32, u32) = (6, 2);

/// What the settings ask of a server.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub cluster: bool,
    pub durability: Durability,
    pub replicas: u16,
}

/// What is to be said of one server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Why it cannot be used at the moment.
    pub away: Option<String>,
    /// What must be set otherwise.
    pub faults: Vec<String>,
    pub warnings: Vec<String>,
}

/// Judges what a server told of itself.
pub(super) fn judge(facts: &Facts, wanted: Wanted) -> Verdict {
    let mut verdict = Verdict::default();
    if facts.info("loading").is_some_and(|loading| loading != "0") {
        verdict.away = Some("it still loads its data".to_owned());
        return verdict;
    }
    if let Some(role) = facts.info("role").filter(|role| *role != "master") {
        verdict.away = Some(format!("role is {role}: the primary is wanted"));
        return verdict;
    }
    if let Some((used, most)) = full(facts) {
        verdict.away = Some(format!("it is out of memory: {used} bytes are used, maxmemory is {most}"));
        return verdict;
    }
    verdict.version(facts);
    verdict.cluster(facts, wanted.cluster);
    verdict.eviction(facts);
    match wanted.durability {
        Durability::Wal => {
            verdict.persistence(facts, "wal", true);
            verdict.promotion(facts, "wal");
        }
        Durability::Relaxed => {
            verdict.persistence(facts, "relaxed", false);
            verdict.promotion(facts, "relaxed");
            verdict.warnings.push(
                "durability = \"relaxed\": up to 2 s of what was answered as stored may be lost".to_owned(),
            );
        }
        Durability::Replicated => {
            verdict.persistence(facts, "replicated", false);
            verdict.replicas(facts, wanted.replicas);
        }
        Durability::Memory => verdict.warnings.push(
            "durability = \"memory\": everything may be lost when the server ends; not for production"
                .to_owned(),
        ),
    }
    verdict
}

/// The bytes used and allowed of a server that takes no more. What it holds for its replicas and its append-only file does
/// not count.
fn full(facts: &Facts) -> Option<(u64, u64)> {
    let number = |name| facts.info(name).and_then(|text| text.parse::<u64>().ok());
    let most = number("maxmemory").filter(|most| *most > 0)?;
    let used = number("used_memory")?.saturating_sub(number("mem_not_counted_for_evict").unwrap_or(0));
    (used >= most).then_some((used, most))
}

/// How many replicas are connected, where the server tells.
fn replicas(facts: &Facts) -> Option<u32> {
    facts.info("connected_slaves").and_then(|count| count.parse().ok())
}

impl Verdict {
    fn version(&mut self, facts: &Facts) {
        let Some(text) = facts.info("redis_version") else {
            self.unknown("redis_version", "6.2 or later");
            return;
        };
        let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
        match (parts.next().flatten(), parts.next().flatten()) {
            (Some(major), Some(minor)) if (major, minor) >= OLDEST => {}
            (Some(_), Some(_)) => self.wrong("redis_version", text, "6.2 or later"),
            _ => self.unknown("redis_version", "6.2 or later"),
        }
    }

    fn cluster(&mut self, facts: &Facts, wanted: bool) {
        let word = |on: bool| if on { "1" } else { "0" };
        match facts.info("cluster_enabled") {
            Some(found) if found != word(wanted) => {
                self.wrong("cluster_enabled", found, &format!("{} (cluster = {wanted})", word(wanted)));
            }
            _ => {}
        }
    }

    /// With any policy but `noeviction` claims would be dropped when memory runs out, and users pushed to twice.
    fn eviction(&mut self, facts: &Facts) {
        match facts.parameter("maxmemory-policy") {
            Some("noeviction") => {}
            Some(found) => self.wrong("maxmemory-policy", found, "noeviction"),
            None => self.unknown("maxmemory-policy", "noeviction"),
        }
    }

    fn persistence(&mut self, facts: &Facts, durability: &str, each_write: bool) {
        let so = |value: &str| format!("{value} (durability = \"{durability}\")");
        let mut want = |parameter, value: &str| match facts.parameter(parameter) {
            Some(found) if found == value => {}
            Some(found) => self.wrong(parameter, found, &so(value)),
            None => self.unknown(parameter, &so(value)),
        };
        want("appendonly", "yes");
        if each_write {
            want("appendfsync", "always");
            want("no-appendfsync-on-rewrite", "no");
        } else if facts.parameter("appendfsync") == Some("no") {
            self.wrong("appendfsync", "no", &so("everysec or always"));
        }
        if facts.info("aof_last_write_status").is_some_and(|status| status != "ok") {
            self.warnings
                .push("aof_last_write_status is not ok: the append-only file cannot be written".to_owned());
        }
    }

    /// What is on the primary's disk only is lost where a replica takes its place, and nothing waits for it.
    fn promotion(&mut self, facts: &Facts, durability: &str) {
        if let Some(count) = replicas(facts).filter(|count| *count > 0) {
            self.warnings.push(format!(
                "connected_slaves is {count} and durability = \"{durability}\": a replica that is promoted may lack what was \
                 answered as stored; durability = \"replicated\" waits for it"
            ));
        }
    }

    fn replicas(&mut self, facts: &Facts, wanted: u16) {
        match replicas(facts) {
            None => self.unknown("connected_slaves", &wanted.to_string()),
            Some(count) if count < u32::from(wanted) => {
                // they come and go: not a fault of the set-up, and writes fail until they are back
                self.away = Some(format!("connected_slaves is {count}: {wanted} replicas are wanted (replicas = {wanted})"));
            }
            Some(count) if count > u32::from(wanted) => self.warnings.push(format!(
                "connected_slaves is {count} and replicas = {wanted}: a replica that did not acknowledge a write may be \
                 promoted; keep the others from it by replica-priority 0, or raise replicas"
            )),
            Some(_) => {}
        }
    }

    fn wrong(&mut self, parameter: &str, found: &str, wanted: &str) {
        self.faults.push(format!("{parameter} is {found}: {wanted} is wanted"));
    }

    fn unknown(&mut self, parameter: &str, wanted: &str) {
        self.warnings.push(format!("{parameter} could not be asked for: see that it is {wanted}"));
    }
}

#[cfg(test)]
mod tests;
