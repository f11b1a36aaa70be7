//! Seals, their progress and the epochs that guard it.

use domain::{Instant, Night, SealKey, Shard};
use plumbing::{
    File, FileError, StoreError,
    redb::{ReadableTable, WriteTransaction},
};

use super::{
    counting,
    sheet::{self, Sheet},
    tables,
};
use crate::{Held, Progress, Raised, Seal, Sealed, seal, sums::Delta};

pub(super) async fn write(file: &File, key: SealKey, seal: Seal) -> Result<Sealed, StoreError> {
    seal.check()?;
    let bytes = seal::encode(&seal);
    Ok(file.write(move |to| write_in(to, &key, &seal, &bytes)).await?)
}

fn write_in(to: &WriteTransaction, key: &SealKey, seal: &Seal, bytes: &[u8]) -> Result<Sealed, FileError> {
    let name = tables::seal(key);
    let mut seals = to.open_table(tables::SEALS)?;
    if seals.get(&name[..])?.is_some() {
        return Ok(Sealed::Stands);
    }
    let mut zones = to.open_table(tables::ZONES)?;
    let zone_key =
        |zone: domain::Zone| tables::with(tables::night_shard(&key.night, key.shard), zone.name().as_bytes());
    for zone in &seal.zones {
        if let Some(at) = zones.get(&zone_key(zone.zone)[..])? {
            let at = Instant::from_timestamp(at.value(), 0).unwrap_or_default();
            return Ok(Sealed::ZoneTaken(zone.zone, at));
        }
    }
    for zone in &seal.zones {
        zones.insert(&zone_key(zone.zone)[..], key.instant.timestamp())?;
    }
    seals.insert(&name[..], bytes)?;
    let deadline = seal.deadline().map_or(0, |d| d.timestamp());
    to.open_table(tables::PROGRESS)?.insert(&name[..], (0, false, deadline))?;
    let claims: Vec<u8> = seal.due.iter().map(|d| d.claim().byte()).collect();
    sheet::write_new(&mut to.open_table(tables::CLAIMS)?, &name, &claims)?;
    let mut deltas = vec![Delta::default(); seal.zones.len() * seal.channels.len()];
    for due in &seal.due {
        let place = usize::from(due.zone) * seal.channels.len() + usize::from(due.channel);
        deltas[place].carry(due.claim(), 1);
    }
    let mut sums = to.open_table(tables::SUMS)?;
    for (place, delta) in deltas.iter().enumerate() {
        let (zone, channel) = (place / seal.channels.len(), place % seal.channels.len());
        let row = tables::sums(&name, &seal.channels[channel], seal.zones[zone].zone);
        counting::change(&mut sums, &row, delta)?;
    }
    Ok(Sealed::Written)
}

pub(super) fn read(file: &File, key: &SealKey) -> Result<Option<Seal>, StoreError> {
    let table = file.read()?.open_table(tables::SEALS).map_err(FileError::from)?;
    let bytes = table.get(&tables::seal(key)[..]).map_err(FileError::from)?;
    bytes.map(|b| seal::decode(b.value(), key.shard.0)).transpose()
}

/// The claims at `positions`, and where they were moved.
pub(super) fn claims(file: &File, key: &SealKey, positions: &[u32]) -> Result<Vec<Held>, FileError> {
    let from = file.read()?;
    let (table, moved) = (from.open_table(tables::CLAIMS)?, from.open_table(tables::MOVED)?);
    let (name, mut sheet) = (tables::seal(key), Sheet::new(key));
    let held = positions.iter().map(|&position| {
        let moved = moved.get(&tables::with(name.clone(), &position.to_be_bytes())[..])?;
        let moved = moved.map(|c| c.value().parse().map_err(|e| FileError::entry("moved channel", e)));
        Ok(Held { claim: sheet.get(&table, position)?, moved: moved.transpose()? })
    });
    held.collect()
}

/// When a campaign was first seen with a line, in Unix milliseconds.
pub(super) fn first_seen(file: &File, key: &str) -> Result<Option<i64>, FileError> {
    Ok(file.read()?.open_table(tables::FIRST_SEEN)?.get(key)?.map(|at| at.value()))
}

/// The shard count of the night with this key.
pub(super) fn shard_count(file: &File, night: &[u8]) -> Result<Option<u32>, FileError> {
    Ok(file.read()?.open_table(tables::NIGHTS)?.get(night)?.map(|n| n.value()))
}

/// Who holds a shard, under which epoch.
pub(super) fn shard_lease(file: &File, shard: Shard) -> Result<Option<(u64, u64)>, FileError> {
    Ok(file.read()?.open_table(tables::SHARD_LEASES)?.get(shard.0)?.map(|l| l.value()))
}

pub(super) fn nights(file: &File) -> Result<Vec<Night>, FileError> {
    let table = file.read()?.open_table(tables::NIGHTS)?;
    let mut nights = Vec::new();
    for row in table.iter()? {
        let key = row?.0.value().to_vec();
        let night = tables::split_night(&key).ok_or_else(|| FileError::entry("night", format!("{key:?}")))?;
        nights.push(night.0);
    }
    nights.sort_by(|a, b| (a.day, &a.campaign).cmp(&(b.day, &b.campaign)));
    Ok(nights)
}

/// The seals of a night, or of one of its shards, by shard and instant.
pub(super) fn list(
    file: &File,
    night: &Night,
    shard: Option<Shard>,
) -> Result<Vec<(SealKey, Progress)>, FileError> {
    let from = file.read()?;
    let (table, sums) = (from.open_table(tables::PROGRESS)?, from.open_table(tables::SUMS)?);
    let prefix = shard.map_or_else(|| tables::night(night), |s| tables::night_shard(night, s));
    let mut seals = Vec::new();
    for row in table.range::<&[u8]>(&prefix[..]..&tables::after(&prefix)[..])? {
        let (name, progress) = row?;
        let (key, _) = tables::split_seal(name.value())?;
        let (batches, closed, deadline) = progress.value();
        let mut open = 0;
        for row in sums.range::<&[u8]>(name.value()..&tables::after(name.value())[..])? {
            open += counting::line(row?.1.value())?.open;
        }
        seals.push((key, Progress { batches, closed, deadline, open }));
    }
    Ok(seals)
}

pub(super) fn raise(to: &WriteTransaction, key: &[u8], epoch: u64) -> Result<Raised, FileError> {
    let mut table = to.open_table(tables::EPOCHS)?;
    let held = table.get(key)?.map_or(0, |e| e.value());
    if held > epoch {
        return Ok(Raised::Outbid(held));
    }
    if held < epoch {
        table.insert(key, epoch)?;
    }
    Ok(Raised::Yes)
}

pub(super) async fn checkpoint(
    file: &File,
    key: &SealKey,
    epoch: u64,
    batches: u32,
) -> Result<Raised, StoreError> {
    let (name, shard) = (tables::seal(key), tables::night_shard(&key.night, key.shard));
    let done = file.write(move |to| {
        if let Raised::Outbid(held) = raise(to, &shard, epoch)? {
            return Ok(Raised::Outbid(held));
        }
        let mut table = to.open_table(tables::PROGRESS)?;
        let held = table.get(&name[..])?.map(|p| p.value());
        let (before, closed, deadline) =
            held.ok_or_else(|| FileError::entry("checkpoint", "there is no such seal"))?;
        if batches > before {
            table.insert(&name[..], (batches, closed, deadline))?;
        }
        Ok(Raised::Yes)
    });
    Ok(done.await?)
}
