//! What the step's script answers.

use std::{collections::HashMap, time::Duration};

use domain::BatchId;
use redis::{FromRedisValue, ParsingError, Value};

use crate::{Owner, fields::Reader, runs::Runs};

/// The answer to a step.
pub(super) enum Taken {
    Done,
    Held(Duration),
    NoSeal,
    /// Nothing was written.
    Otherwise(Found),
}

/// What was there instead of what was expected.
#[derive(Default)]
pub(super) struct Found {
    /// The bytes of each window.
    pub(super) claims: Vec<Vec<u8>>,
    /// The live leases of the seal.
    pub(super) leases: Vec<Lease>,
    /// How often claims that nobody held were judged, by block; 0 where there is none.
    pub(super) turns: HashMap<String, String>,
}

/// A live lease on a batch.
pub(super) struct Lease {
    pub(super) batch: BatchId,
    pub(super) owner: Owner,
    pub(super) chunk: Runs,
}

impl FromRedisValue for Taken {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        let bad = || ParsingError::from("the answer to a step is not of its form".to_owned());
        let Value::Array(parts) = value else { return Err(bad()) };
        let mut parts = parts.into_iter();
        match (parts.next(), parts.next(), parts.next()) {
            (Some(Value::Int(1)), None, _) => Ok(Self::Done),
            (Some(Value::Int(2)), Some(Value::Int(left)), None) => {
                Ok(Self::Held(Duration::from_millis(u64::try_from(left).map_err(|_| bad())?)))
            }
            (Some(Value::Int(3)), None, _) => Ok(Self::NoSeal),
            (Some(Value::Int(0)), Some(claims), Some(fields)) => {
                let mut found = Found { claims: Vec::from_redis_value(claims)?, ..Found::default() };
                let fields: Vec<(Vec<u8>, Vec<u8>)> = pairs(fields).ok_or_else(bad)?;
                for (field, value) in fields {
                    found.note(&field, &value).ok_or_else(bad)?;
                }
                Ok(Self::Otherwise(found))
            }
            _ => Err(bad()),
        }
    }
}

impl Found {
    fn note(&mut self, field: &[u8], value: &[u8]) -> Option<()> {
        if let Ok(batch) = field.try_into() {
            let (owner, rest) = value.split_first_chunk()?;
            let (_, chunk) = rest.split_at_checked(DIGITS)?;
            self.leases.push(Lease {
                batch: BatchId(u128::from_be_bytes(batch)),
                owner: Owner(u64::from_be_bytes(*owner)),
                chunk: Runs::decode(&mut Reader::new("lease", chunk)).ok()?,
            });
        } else {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
            self.turns.insert(text(field)?, text(value)?);
        }
        Some(())
    }
}

/// The digits of the instant at which a lease ends: it was judged by the server, whose clock it is.
const DIGITS: usize = 13;

fn pairs(value: Value) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let flat = Vec::<Vec<u8>>::from_redis_value(value).ok()?;
    let (pairs, rest) = flat.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[field, value]| (field.clone(), value.clone())).collect())
}
