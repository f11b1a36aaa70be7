//! Real data: who is there from a graph of friendships, what they walked from daily records of trackers.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use anyhow::{Context, bail, ensure};
use flate2::read::MultiGzDecoder;
use step_store::MOST_STEPS;

/// Users by rising uid, each with the steps of one real day.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RealData {
    /// (uid, steps).
    pub(super) users: Vec<(u64, u32)>,
}

/// Edges of friendship, gzip: `a b` a line. Its nodes are the users.
const GRAPH: &str = "graph/ego_facebook_edges.txt.gz";
/// Daily records, gzip: CSV with a header and a column `steps`. A record without steps is no user-day.
const STEPS: &str = "steps/lifesnaps_daily_steps.csv.gz";
/// The most users, as for `--users`.
const MOST_USERS: usize = 1_000_000;
/// The most bytes a file may have when it is unpacked.
const MOST_BYTES: u64 = 1 << 30;
/// The longest line of a graph, in bytes.
const LONGEST_LINE: u64 = 1_024;

impl RealData {
    /// Reads both files of a folder and deals the user-days out to the users in the order of the file. An error names
    /// the file, and the line where there is one.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let (graph, steps) = (folder.join(GRAPH), folder.join(STEPS));
        let open = |path: &Path| -> anyhow::Result<_> {
            let file = File::open(path).with_context(|| format!("--data: {}", path.display()))?;
            Ok(MultiGzDecoder::new(file).take(MOST_BYTES))
        };
        let (edges, records) = (open(&graph)?, open(&steps)?);
        let users = nodes(BufReader::new(edges)).with_context(|| format!("--data: {}", graph.display()))?;
        let days = user_days(records, users.len()).with_context(|| format!("--data: {}", steps.display()))?;
        Ok(Self { users: users.into_iter().zip(days).collect() })
    }
}

/// The nodes of a list of edges.
fn nodes(mut from: impl BufRead) -> anyhow::Result<BTreeSet<u64>> {
    let mut nodes = BTreeSet::new();
    let mut line = String::new();
    for number in 1u64.. {
        line.clear();
        let place = || format!("line {number}");
        if from.by_ref().take(LONGEST_LINE).read_line(&mut line).with_context(place)? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let ends: Vec<u64> = line.split_whitespace().map_while(|end| end.parse().ok()).collect();
        let [a, b] = ends[..] else {
            bail!("line {number}: two whole numbers are wanted, not {:?}", cut(line.trim()));
        };
        ensure!(
            line.split_whitespace().count() == 2,
            "line {number}: two whole numbers are wanted, not more"
        );
        nodes.extend([a, b]);
        ensure!(nodes.len() <= MOST_USERS, "line {number}: at most {MOST_USERS} nodes are wanted");
    }
    ensure!(!nodes.is_empty(), "there is no edge in it");
    Ok(nodes)
}

/// The steps of the first `wanted` records that have some.
fn user_days(from: impl Read, wanted: usize) -> anyhow::Result<Vec<u32>> {
    let mut rows = csv::Reader::from_reader(from);
    let column =
        rows.headers()?.iter().position(|name| name == "steps").context("it has no column `steps`")?;
    let mut days = Vec::new();
    for row in rows.records() {
        if days.len() == wanted {
            break;
        }
        let row = row?;
        let line = row.position().map_or(0, csv::Position::line);
        match row.get(column).map(str::trim) {
            None | Some("") => {}
            Some(text) => days.push(steps(text).with_context(|| {
                format!("line {line}: steps {:?}: a number from 0 to {MOST_STEPS} is wanted", cut(text))
            })?),
        }
    }
    ensure!(days.len() == wanted, "{wanted} records with steps are wanted, there are {}", days.len());
    Ok(days)
}

/// Steps written as a decimal number: `8833` or `8833.0`; a fraction is rounded.
fn steps(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let up = u32::from(fraction.as_bytes().first().is_some_and(|b| *b >= b'5'));
    whole.parse::<u32>().ok()?.checked_add(up).filter(|steps| *steps <= MOST_STEPS)
}

/// What of a bad text is shown.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;

    use super::*;

    fn folder(graph: &[u8], steps: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [(GRAPH, graph), (STEPS, steps)] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut file = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
            file.write_all(content).unwrap();
            file.finish().unwrap();
        }
        folder
    }

    fn error(graph: &str, steps: &str) -> String {
        format!("{:#}", RealData::read(folder(graph.as_bytes(), steps.as_bytes()).path()).unwrap_err())
    }

    #[test]
    fn days_are_dealt_out_in_order_and_0_is_a_value() {
        let steps = "id,date,steps,goal\n1,2021-05-24,8833.0,\n1,2021-05-25,,x\n1,2021-05-26,0.0,\n2,2021-05-24,17,\n";
        let folder = folder(b"7 0\n0 3\r\n\n3 7\n", steps.as_bytes());
        assert_eq!(RealData::read(folder.path()).unwrap().users, [(0, 8_833), (3, 0), (7, 17)]);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let days = "steps\n1\n2\n";
        let empty = tempfile::tempdir().unwrap();
        let missing = format!("{:#}", RealData::read(empty.path()).unwrap_err());
        assert!(missing.contains(GRAPH) && missing.contains("No such file"), "{missing}");
        for (graph, steps, wanted) in [
            ("0 1\n0 x\n", days, "edges.txt.gz: line 2: two whole numbers"),
            ("0 1 2\n", days, "line 1: two whole numbers"),
            ("0\n", days, "line 1: two whole numbers"),
            ("", days, "there is no edge"),
            ("0 1\n", "date\n1\n", "steps.csv.gz: it has no column `steps`"),
            ("0 1\n", "steps\n5\nmany\n", "line 3: steps \"many\""),
            ("0 1\n", "steps\n200001\n5\n", "line 2: steps \"200001\""),
            ("0 1\n", "steps\n5\n", "2 records with steps are wanted, there are 1"),
            ("0 1\n", "a,steps\n5\n", "steps.csv.gz"),
        ] {
            let error = error(graph, steps);
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn what_is_no_gzip_is_refused_by_file() {
        let folder = folder(b"0 1\n", b"steps\n1\n2\n");
        std::fs::write(folder.path().join(GRAPH), "0 1\n").unwrap();
        let error = format!("{:#}", RealData::read(folder.path()).unwrap_err());
        assert!(error.contains(GRAPH), "{error}");
    }

    #[test]
    fn decimal_numbers_only() {
        for (text, wanted) in [
            ("8833.0", Some(8_833)),
            ("0", Some(0)),
            ("12.5", Some(13)),
            ("12.49", Some(12)),
            ("200000", Some(200_000)),
            ("200000.5", None),
            ("-1", None),
            ("1e4", None),
            ("NaN", None),
            (".5", None),
            ("5.", None),
            ("99999999999", None),
            ("4294967295.9", None),
        ] {
            assert_eq!(steps(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn rubbish_is_refused_or_read_and_never_panics(
            graph in proptest::collection::vec(any::<u8>(), 0..200),
            steps in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = nodes(&graph[..]);
            let _ = user_days(&steps[..], 3);
        }
    }
}
