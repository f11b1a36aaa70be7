//! Claims in sheets of 1,024 neighbouring positions: a chunk touches one or two of them, however large the seal.

use std::collections::BTreeMap;

use domain::SealKey;
use plumbing::{
    FileError,
    redb::{ReadableTable, Table},
};

use super::tables;
use crate::Claim;

const SIZE: u32 = 1_024;

/// The sheets of one seal that were looked at, and which of them changed.
pub(super) struct Sheet {
    seal: Vec<u8>,
    held: BTreeMap<u32, (Vec<u8>, bool)>,
}

impl Sheet {
    pub(super) fn new(seal: &SealKey) -> Self {
        Self { seal: tables::seal(seal), held: BTreeMap::new() }
    }

    pub(super) fn get(
        &mut self,
        table: &impl ReadableTable<&'static [u8], &'static [u8]>,
        position: u32,
    ) -> Result<Claim, FileError> {
        let byte = *self.byte(table, position)?.0;
        Claim::from_byte(byte)
            .ok_or_else(|| FileError::entry("claim", format!("{byte:#x} at position {position}")))
    }

    /// Whether the seal has this position.
    pub(super) fn has(
        &mut self,
        table: &impl ReadableTable<&'static [u8], &'static [u8]>,
        position: u32,
    ) -> Result<bool, FileError> {
        match self.byte(table, position) {
            Ok(_) => Ok(true),
            Err(FileError::Entry { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    pub(super) fn set(
        &mut self,
        table: &impl ReadableTable<&'static [u8], &'static [u8]>,
        position: u32,
        claim: Claim,
    ) -> Result<(), FileError> {
        let (byte, changed) = self.byte(table, position)?;
        *changed |= *byte != claim.byte();
        *byte = claim.byte();
        Ok(())
    }

    /// Writes the sheets that changed.
    pub(super) fn save(self, table: &mut Table<'_, &'static [u8], &'static [u8]>) -> Result<(), FileError> {
        for (number, (bytes, changed)) in self.held {
            if changed {
                let key = tables::with(self.seal.clone(), &number.to_be_bytes());
                table.insert(&key[..], &bytes[..])?;
            }
        }
        Ok(())
    }

    fn byte(
        &mut self,
        table: &impl ReadableTable<&'static [u8], &'static [u8]>,
        position: u32,
    ) -> Result<(&mut u8, &mut bool), FileError> {
        let number = position / SIZE;
        if !self.held.contains_key(&number) {
            let key = tables::with(self.seal.clone(), &number.to_be_bytes());
            let bytes = table.get(&key[..])?.map(|b| b.value().to_vec());
            self.held.insert(number, (bytes.unwrap_or_default(), false));
        }
        let absent = || FileError::entry("claim", format!("there is no position {position}"));
        let (bytes, changed) = self.held.get_mut(&number).ok_or_else(absent)?;
        let place = usize::try_from(position % SIZE).unwrap_or_default();
        Ok((bytes.get_mut(place).ok_or_else(absent)?, changed))
    }
}

/// Writes the claims of a new seal.
pub(super) fn write_new(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    seal: &[u8],
    claims: &[u8],
) -> Result<(), FileError> {
    for (number, bytes) in (0u32..).zip(claims.chunks(1_024)) {
        table.insert(&tables::with(seal.to_vec(), &number.to_be_bytes())[..], bytes)?;
    }
    Ok(())
}
