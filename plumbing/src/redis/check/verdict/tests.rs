use std::collections::HashMap;

use super::*;

const INFO: &str = "# Server\r\nredis_version:7.0.15\r\n# Persistence\r\nloading:0\r\naof_enabled:1\r\n\
    aof_last_write_status:ok\r\n# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n# Replication\r\nrole:master\r\n\
    connected_slaves:0\r\n# Cluster\r\ncluster_enabled:0\r\n";

fn told(parameters: &[(&'static str, &str)]) -> HashMap<&'static str, String> {
    let mut all = HashMap::from([
        ("maxmemory-policy", "noeviction"),
        ("appendonly", "yes"),
        ("appendfsync", "always"),
        ("no-appendfsync-on-rewrite", "no"),
    ]);
    all.extend(parameters.iter().copied());
    all.into_iter().map(|(name, value)| (name, value.to_owned())).collect()
}

fn verdict(durability: Durability, info: &str, parameters: &[(&'static str, &str)]) -> Verdict {
    judge(&Facts::new(info, told(parameters)), Wanted { cluster: false, durability, replicas: 0 })
}

#[test]
fn a_server_as_it_should_be_passes() {
    assert_eq!(verdict(Durability::Wal, INFO, &[]), Verdict::default());
}

#[test]
fn a_server_without_room_is_away_until_there_is_some() {
    let told = |used: u64, apart: u64| {
        let memory = format!("used_memory:{used}\r\nmem_not_counted_for_evict:{apart}\r\nmaxmemory:1000");
        verdict(Durability::Wal, &INFO.replace("maxmemory:0", &memory), &[])
    };
    let away = told(1_000, 0).away.unwrap();
    assert_eq!(away, "it is out of memory: 1000 bytes are used, maxmemory is 1000");
    assert_eq!(told(999, 0), Verdict::default());
    assert_eq!(told(1_400, 401), Verdict::default());
    // no limit
    let unlimited = INFO.replace("maxmemory:0", "used_memory:5000\r\nmaxmemory:0");
    assert_eq!(verdict(Durability::Wal, &unlimited, &[]), Verdict::default());
}

#[test]
fn every_fault_names_parameter_found_and_wanted() {
    let info = INFO.replace("7.0.15", "6.0.16").replace("cluster_enabled:0", "cluster_enabled:1");
    let wrong = [
        ("maxmemory-policy", "volatile-ttl"),
        ("appendonly", "no"),
        ("appendfsync", "everysec"),
        ("no-appendfsync-on-rewrite", "yes"),
    ];
    assert_eq!(
        verdict(Durability::Wal, &info, &wrong).faults,
        [
            "redis_version is 6.0.16: 6.2 or later is wanted",
            "cluster_enabled is 1: 0 (cluster = false) is wanted",
            "maxmemory-policy is volatile-ttl: noeviction is wanted",
            "appendonly is no: yes (durability = \"wal\") is wanted",
            "appendfsync is everysec: always (durability = \"wal\") is wanted",
            "no-appendfsync-on-rewrite is yes: no (durability = \"wal\") is wanted",
        ]
    );
}

#[test]
fn less_durable_ways_want_less_and_say_so() {
    let relaxed = verdict(Durability::Relaxed, INFO, &[("appendfsync", "everysec")]);
    assert!(relaxed.faults.is_empty() && relaxed.warnings[0].contains("up to 2 s"), "{relaxed:?}");
    let relaxed = verdict(Durability::Relaxed, INFO, &[("appendfsync", "no")]);
    assert_eq!(relaxed.faults.len(), 1, "{relaxed:?}");
    let memory = verdict(Durability::Memory, INFO, &[("appendonly", "no")]);
    assert!(memory.faults.is_empty() && memory.warnings[0].contains("not for production"), "{memory:?}");
    // an evicting policy is refused in each
    for durability in [Durability::Relaxed, Durability::Replicated, Durability::Memory] {
        let evicting = verdict(durability, INFO, &[("maxmemory-policy", "allkeys-lru")]);
        assert!(evicting.faults[0].contains("maxmemory-policy is allkeys-lru"), "{evicting:?}");
    }
}

#[test]
fn replicas_are_counted() {
    let verdict = |connected: u32| {
        let info = INFO.replace("connected_slaves:0", &format!("connected_slaves:{connected}"));
        let wanted = Wanted { cluster: false, durability: Durability::Replicated, replicas: 2 };
        judge(&Facts::new(&info, told(&[])), wanted)
    };
    assert!(verdict(1).away.unwrap().contains("connected_slaves is 1"));
    assert_eq!(verdict(2), Verdict::default());
    assert!(verdict(3).warnings[0].contains("may be promoted"));
}

#[test]
fn a_replica_that_nothing_waits_for_is_warned_of() {
    let info = INFO.replace("connected_slaves:0", "connected_slaves:2");
    for (durability, name) in [(Durability::Wal, "wal"), (Durability::Relaxed, "relaxed")] {
        let told = verdict(durability, &info, &[]);
        assert!((&told.away, told.faults.len()) == (&None, 0), "{told:?}");
        let wanted = format!(
            "connected_slaves is 2 and durability = \"{name}\": a replica that is promoted may lack what was answered as \
             stored; durability = \"replicated\" waits for it"
        );
        assert!(told.warnings.contains(&wanted), "{told:?}");
        let alone = verdict(durability, INFO, &[]);
        assert!(!alone.warnings.iter().any(|w| w.contains("promoted")), "{alone:?}");
    }
}

#[test]
fn a_replica_or_one_that_loads_is_away() {
    let replica = verdict(Durability::Wal, &INFO.replace("role:master", "role:slave"), &[]);
    assert_eq!(replica.away.as_deref(), Some("role is slave: the primary is wanted"));
    let loading = verdict(Durability::Wal, &INFO.replace("loading:0", "loading:1"), &[]);
    assert!(loading.away.is_some());
}

#[test]
fn what_cannot_be_asked_for_is_taken_from_info_or_warned_of() {
    let wanted = Wanted { cluster: false, durability: Durability::Wal, replicas: 0 };
    let verdict = judge(&Facts::new(INFO, HashMap::new()), wanted);
    assert!(verdict.faults.is_empty(), "{verdict:?}");
    let warned = verdict.warnings.join("\n");
    assert!(warned.contains("appendfsync") && warned.contains("no-appendfsync-on-rewrite"), "{warned}");
    assert!(!warned.contains("maxmemory-policy") && !warned.contains("appendonly could"), "{warned}");
    let off = judge(&Facts::new(&INFO.replace("aof_enabled:1", "aof_enabled:0"), HashMap::new()), wanted);
    assert_eq!(off.faults, ["appendonly is no: yes (durability = \"wal\") is wanted"]);
}
