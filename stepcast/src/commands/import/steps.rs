use anyhow::{Context, bail};
use config::Config;
use directory::{Format, TextLines};
use domain::{Day, Uid};
use serde_json::json;

use super::{open, piece::Pieces};
use crate::{access::Access, cli::ImportFile, endings::Ending};

const COLUMNS: [&str; 3] = ["uid", "day", "steps"];

/// `stepcast import steps FILE`: CSV with the columns uid, day and steps; each row is the
/// total of the user's day under the source `import`.
pub(in crate::commands) async fn steps(config: Config, asked: ImportFile) -> anyhow::Result<Ending> {
    let name = asked.file.display().to_string();
    let format = asked.format.or_else(|| Format::of_name(&name));
    if format != Some(Format::Csv) {
        bail!("{name}: steps are imported from CSV (uid,day,steps); use --format csv if it is that");
    }
    let (file, progress) = open(&asked.file)?;
    let mut lines = TextLines::open(Box::new(file)).with_context(|| name.clone())?;
    let header = lines.next_line().with_context(|| name.clone())?;
    let header = header
        .and_then(Result::ok)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .unwrap_or_default();
    let places = COLUMNS.map(|column| header.split(',').position(|h| h.trim() == column));
    let [Some(uid), Some(day), Some(steps)] = places else {
        bail!("{name}: the first line must name the columns {}", COLUMNS.join(", "));
    };
    let access = Access::open_or_make(config).await?;
    let mut pieces = Pieces::new(&access, "/ops/v1/steps");
    let broken = loop {
        let parsed = match lines.next_line() {
            Ok(None) => break None,
            Err(fault) => break Some(fault),
            Ok(Some(Ok(line))) => row(line, [uid, day, steps]),
            Ok(Some(Err(refusal))) => Err(("line", refusal.reason)),
        };
        match parsed {
            Ok(row) => pieces.add(lines.number(), &row).await?,
            Err((field, reason)) => pieces.refuse(lines.number(), field, &reason),
        }
        progress.set_position(lines.bytes_read());
    };
    if let Some(fault) = &broken {
        pieces.refuse(lines.number(), "file", &format!("cannot be read on: {fault}; the rows before are in"));
    }
    let told = pieces.end().await?;
    progress.finish_and_clear();
    told.print(asked.json);
    Ok(told.ending())
}

/// A row as NDJSON. Its three cells are plain numbers, so no quotes are read.
fn row(line: &[u8], [uid, day, steps]: [usize; 3]) -> Result<String, (&'static str, String)> {
    let line = std::str::from_utf8(line).map_err(|_| ("line", "is not UTF-8".to_owned()))?;
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
    let uid: Uid = cell(uid).parse().map_err(|e: domain::BadUid| ("uid", e.to_string()))?;
    let day: Day = cell(day).parse().map_err(|e: domain::BadDay| ("day", e.to_string()))?;
    let shown = || cell(steps).chars().take(40).collect::<String>();
    let steps: u32 =
        cell(steps).parse().map_err(|_| ("steps", format!("{:?}: a whole number is wanted", shown())))?;
    Ok(json!({ "uid": uid.0, "day": day, "steps": steps }).to_string())
}
