//! What works on a batch left to be published: a row a batch and owner.

use domain::{BatchId, SealKey};
use plumbing::{
    File, FileError,
    redb::{ReadableTable, WriteTransaction},
};

use super::tables;
use crate::Step;

/// Keeps what a step leaves, instead of what this owner left before.
pub(super) fn keep(to: &WriteTransaction, step: &Step) -> Result<(), FileError> {
    if let Some(pending) = &step.pending {
        let key = tables::with(batch_of(&step.seal, step.batch), &step.owner.0.to_be_bytes());
        to.open_table(tables::PENDING)?.insert(&key[..], &pending[..])?;
    }
    Ok(())
}

/// What the works on a batch left, each as it was handed in.
pub(super) fn pending(file: &File, seal: &SealKey, batch: BatchId) -> Result<Vec<Vec<u8>>, FileError> {
    let table = file.read()?.open_table(tables::PENDING)?;
    let all = rows(&table, &batch_of(seal, batch))?;
    Ok(all.into_iter().map(|(_, bytes)| bytes).collect())
}

/// Takes off what is equal to `bytes`.
pub(super) async fn published(
    file: &File,
    seal: &SealKey,
    batch: BatchId,
    bytes: &[u8],
) -> Result<(), FileError> {
    let (of_batch, bytes) = (batch_of(seal, batch), bytes.to_vec());
    let taking = file.write(move |to| {
        let mut table = to.open_table(tables::PENDING)?;
        for (key, left) in rows(&table, &of_batch)? {
            if left == bytes {
                table.remove(&key[..])?;
            }
        }
        Ok(())
    });
    taking.await
}

type Row = (Vec<u8>, Vec<u8>);

fn rows(
    table: &impl ReadableTable<&'static [u8], &'static [u8]>,
    of_batch: &[u8],
) -> Result<Vec<Row>, FileError> {
    let last = tables::with(of_batch.to_vec(), &u64::MAX.to_be_bytes());
    let mut all = Vec::new();
    for row in table.range(of_batch..=&last[..])? {
        let (key, bytes) = row?;
        all.push((key.value().to_vec(), bytes.value().to_vec()));
    }
    Ok(all)
}

fn batch_of(seal: &SealKey, batch: BatchId) -> Vec<u8> {
    tables::with(tables::seal(seal), &batch.0.to_be_bytes())
}
