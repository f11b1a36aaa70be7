use std::io::{BufReader, Read};

use anyhow::{Context, bail};
use config::Config;
use directory::Format;
use domain::{Day, Uid};
use flate2::bufread::MultiGzDecoder;
use serde_json::json;

use super::{open, piece::Pieces};
use crate::{access::Access, cli::ImportFile, endings::Ending};

const COLUMNS: [&str; 3] = ["uid", "day", "steps"];

/// `stepcast import steps FILE`: CSV with the columns uid, day and steps; each row is added to the user's day.
pub(in crate::commands) async fn steps(config: Config, asked: ImportFile) -> anyhow::Result<Ending> {
    let name = asked.file.display().to_string();
    let format = asked.format.or_else(|| Format::of_name(&name));
    if format != Some(Format::Csv) {
        bail!("{name}: steps are imported from CSV (uid,day,steps); use --format csv if it is that");
    }
    let (file, progress) = open(&asked.file)?;
    let read = BufReader::with_capacity(1 << 16, progress.wrap_read(file));
    let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(plain(read)?);
    let header = rows.headers().with_context(|| name.clone())?.clone();
    let places =
        COLUMNS.map(|column| header.iter().position(|h| h.trim_start_matches('\u{feff}').trim() == column));
    let [Some(uid), Some(day), Some(steps)] = places else {
        bail!("{name}: the header needs the columns {}", COLUMNS.join(", "));
    };
    let access = Access::open_or_make(config).await?;
    let mut pieces = Pieces::new(&access, "/ops/v1/steps");
    let mut record = csv::StringRecord::new();
    loop {
        let line = rows.position().line();
        match rows.read_record(&mut record) {
            Ok(false) => break,
            Err(fault) if fault.is_io_error() => return Err(fault).context(name),
            Err(fault) => pieces.refuse(line, "row", &fault.to_string()),
            Ok(true) => match row(&record, [uid, day, steps]) {
                Ok(row) => pieces.add(line, &row).await?,
                Err((field, reason)) => pieces.refuse(line, field, &reason),
            },
        }
    }
    let told = pieces.end().await?;
    progress.finish_and_clear();
    told.print(asked.json);
    Ok(told.ending())
}

fn row(record: &csv::StringRecord, [uid, day, steps]: [usize; 3]) -> Result<String, (&'static str, String)> {
    let field = |at| record.get(at).map(str::trim).unwrap_or_default();
    let uid: Uid = field(uid).parse().map_err(|e: domain::BadUid| ("uid", e.to_string()))?;
    let day: Day = field(day).parse().map_err(|e: domain::BadDay| ("day", e.to_string()))?;
    let steps: u32 = field(steps)
        .parse()
        .map_err(|_| ("steps", format!("{:?}: a whole number is wanted", field(steps))))?;
    Ok(json!({ "uid": uid.0, "day": day, "steps": steps }).to_string())
}

/// The text of a file that may be gzip.
fn plain(mut from: impl std::io::BufRead + 'static) -> anyhow::Result<Box<dyn Read>> {
    let zipped = from.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if zipped { Box::new(MultiGzDecoder::new(from)) } else { Box::new(from) })
}
