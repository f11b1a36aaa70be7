//! A population that is the same in every run, as files for the program's imports.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use domain::{Day, Zone};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a device's address: as long as a registration token of FCM commonly is.
const ADDRESS: usize = 163;
const NAMES: [&str; 8] = ["Ada", "Björn", "Chidi", "", "Dunja", "伟", "Emmanuelle", ""];
const LANGUAGES: [&str; 6] = ["en", "en", "zh-Hans", "de", "zh-Hant-TW", "fr"];

/// Writes users 1 to `users`, dealt out to `zones` in turn: all opted in long ago, each with a device on
/// `channel`.
pub(crate) fn write_users(to: &Path, users: u64, zones: &[Zone], channel: &str) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(to)?);
    writeln!(file, "uid,zone,language,consent,consent_at,name,devices")?;
    for (uid, zone) in (1..=users).zip(zones.iter().cycle()) {
        let draw = xxh3_64(&uid.to_le_bytes());
        let (name, language) = (of(&NAMES, draw), of(&LANGUAGES, draw >> 8));
        let address = address(uid);
        writeln!(file, "{uid},{zone},{language},true,2026-01-01T00:00:00Z,{name},{channel}:{address}")?;
    }
    file.flush()
}

/// Writes steps of `day` for users 1 to `users`: 1,000 to 20,999 each.
pub(crate) fn write_steps(to: &Path, users: u64, day: Day) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(to)?);
    writeln!(file, "uid,day,steps")?;
    for uid in 1..=users {
        let steps = 1_000 + (xxh3_64(&uid.to_le_bytes()) >> 32) % 20_000;
        writeln!(file, "{uid},{day},{steps}")?;
    }
    file.flush()
}

fn of<'t>(texts: &[&'t str], draw: u64) -> &'t str {
    let count = u64::try_from(texts.len()).unwrap_or(1);
    usize::try_from(draw % count).ok().and_then(|i| texts.get(i)).copied().unwrap_or_default()
}

fn address(uid: u64) -> String {
    let mut text = String::with_capacity(ADDRESS + 16);
    let mut part = uid;
    while text.len() < ADDRESS {
        part = xxh3_64(&part.to_le_bytes());
        text += &format!("{part:016x}");
    }
    text.truncate(ADDRESS);
    text
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    #[test]
    fn everybody_has_a_zone_a_device_and_steps() {
        let folder = tempfile::tempdir().unwrap();
        let (users, steps) = (folder.path().join("users.csv"), folder.path().join("steps.csv"));
        let zones: Vec<Zone> = ["Africa/Nairobi", "Asia/Riyadh"].map(|z| z.parse().unwrap()).to_vec();
        write_users(&users, 1_000, &zones, "stub").unwrap();
        write_steps(&steps, 1_000, "20260607".parse().unwrap()).unwrap();
        let users = fs::read_to_string(users).unwrap();
        let rows: Vec<Vec<&str>> = users.lines().skip(1).map(|l| l.split(',').collect()).collect();
        assert_eq!(rows.len(), 1_000);
        assert!(rows.iter().all(|r| r.len() == 7 && r[6].len() == "stub:".len() + 163));
        assert_eq!(rows.iter().filter(|r| r[1] == "Asia/Riyadh").count(), 500);
        assert_eq!(rows.iter().map(|r| r[6]).collect::<BTreeSet<_>>().len(), 1_000);
        assert_eq!(rows.iter().map(|r| r[2]).collect::<BTreeSet<_>>().len(), 5);
        let steps = fs::read_to_string(steps).unwrap();
        let walked = steps.lines().skip(1).map(|l| l.split(',').nth(2).unwrap().parse::<u32>().unwrap());
        assert!(walked.clone().all(|w| (1_000..21_000).contains(&w)) && walked.count() == 1_000);
    }
}
