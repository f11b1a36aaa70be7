//! Bulk imports: the file is read as a stream and handed on in pieces; a bad row is named and the rest goes on.

mod piece;
mod steps;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::Path,
};

use anyhow::Context;
use config::Config;
use directory::{Change, Format, MOST_CHANNELS, UserRows, to_line};
use domain::ChannelName;
use indicatif::{ProgressBar, ProgressStyle};
use piece::Pieces;
pub(super) use steps::steps;

use crate::{access::Access, cli::ImportFile, endings::Ending, say::say};

/// More than this and the shards are called uneven (the largest over the mean).
const SKEW: f64 = 1.5;

/// `stepcast import users FILE`
pub(super) async fn users(config: Config, asked: ImportFile) -> anyhow::Result<Ending> {
    let name = asked.file.to_string_lossy().into_owned();
    let format = asked.format.or_else(|| Format::of_name(&name));
    let format =
        format.with_context(|| format!("{name}: the name does not tell csv from ndjson; use --format"))?;
    let shards = config.scheduler.shards;
    let known: BTreeSet<ChannelName> = config.channels.keys().cloned().collect();
    let mut unknown = BTreeMap::<ChannelName, u64>::new();
    let (file, progress) = open(&asked.file)?;
    let mut rows = UserRows::open(Box::new(file), format)
        .map_err(|e| anyhow::anyhow!("{name}: line {}, {}: {}", e.line, e.field, e.reason))?;
    let access = Access::open_or_make(config).await?;
    let mut pieces = Pieces::new(&access, "/ops/v1/users");
    while let Some(row) = rows.next() {
        match row {
            Ok(row) => {
                note_unknown(&row.change, &known, &mut unknown);
                pieces.add(row.line, &to_line(&row.change)).await?;
            }
            Err(fault) => pieces.refuse(fault.line, &fault.field, &fault.reason),
        }
        progress.set_position(rows.bytes_read());
    }
    let mut told = pieces.end().await?;
    progress.finish_and_clear();
    let census = access.get("/ops/v1/users/census", &[("shards", shards.to_string())]).await;
    let census =
        census.context("all rows were handed on and answered; the directory could not be counted")?;
    let skew = census["skew"].as_f64().unwrap_or(1.0);
    told.value["users"] = census["users"].clone();
    told.value["skew"] = census["skew"].clone();
    told.print(asked.json);
    if !asked.json {
        say!(
            "the directory has {} users; the largest of {shards} shards has {skew:.2} times the mean",
            census["users"]
        );
    }
    if skew > SKEW {
        eprintln!(
            "warning: uid % {shards} spreads these uids unevenly ({skew:.2} > {SKEW}); another scheduler.shards may suit them"
        );
    }
    for (channel, devices) in unknown {
        eprintln!(
            "warning: {devices} device(s) are on channel {channel}, which is not configured: nothing reaches them"
        );
    }
    Ok(told.ending())
}

/// Counts devices on channels that are not configured; of the most different names that an installation can have.
fn note_unknown(change: &Change, known: &BTreeSet<ChannelName>, unknown: &mut BTreeMap<ChannelName, u64>) {
    let Change::Put(user) = change else { return };
    for device in user.devices.iter().flatten().filter(|d| !known.contains(&d.channel)) {
        if unknown.len() < usize::from(MOST_CHANNELS) || unknown.contains_key(&device.channel) {
            *unknown.entry(device.channel.clone()).or_default() += 1;
        }
    }
}

/// The file and a bar that shows how far it is read.
fn open(path: &Path) -> anyhow::Result<(File, ProgressBar)> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let size = file.metadata().with_context(|| path.display().to_string())?.len();
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta} left")?;
    Ok((file, ProgressBar::new(size).with_style(style)))
}
