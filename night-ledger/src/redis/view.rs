//! The claims of a seal, and where its users were moved, as they stand at one moment.

use std::collections::HashMap;

use domain::{ChannelName, SealKey};
use plumbing::{Redis, StoreError};

use super::{keys, scripts, windows::Windows};
use crate::Held;

/// The claims at `positions`, in their order.
pub(super) async fn claims(redis: &Redis, key: &SealKey, positions: &[u32]) -> Result<Vec<Held>, StoreError> {
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let mut ascending = positions.to_vec();
    ascending.sort_unstable();
    ascending.dedup();
    let windows = Windows::of(&ascending);
    let (claims, moved, channels) = parts(redis, key, windows.bounds()).await?;
    let claims = windows.claims(&claims)?;
    let moved = windows.pick(&moved).map(|(_, byte)| channel(&channels, byte).map(Option::<&_>::cloned));
    let moved: Vec<_> = moved.collect::<Result<_, _>>()?;
    let held = claims.into_iter().zip(moved).map(|(claim, moved)| Held { claim, moved });
    let held: Vec<Held> = held.collect();
    if ascending == positions {
        return Ok(held);
    }
    Ok(positions
        .iter()
        .filter_map(|position| held.get(ascending.binary_search(position).ok()?).cloned())
        .collect())
}

type Parts = (Vec<Vec<u8>>, Vec<Vec<u8>>, HashMap<u8, ChannelName>);

async fn parts(
    redis: &Redis,
    key: &SealKey,
    bounds: impl IntoIterator<Item = (u32, u32)>,
) -> Result<Parts, StoreError> {
    let (_, names) = keys::of_seal(redis, key);
    let mut command = scripts::VIEW.call(&[&names.claims, &names.moved, &names.channels]);
    for (first, last) in bounds {
        command = command.arg(first).arg(last);
    }
    let (claims, moved, channels): (_, _, HashMap<String, u8>) = redis.read(command).await?;
    let named = channels.into_iter().map(|(name, number)| {
        Ok((number, name.parse().map_err(|error| StoreError::corrupt("moved channel", error))?))
    });
    Ok((claims, moved, named.collect::<Result<_, StoreError>>()?))
}

/// The channel of a byte of the moves; 0 and nothing are no move.
fn channel(
    channels: &HashMap<u8, ChannelName>,
    byte: Option<u8>,
) -> Result<Option<&ChannelName>, StoreError> {
    let Some(number) = byte.filter(|&byte| byte != 0) else { return Ok(None) };
    let unknown = || StoreError::corrupt("moved channel", format!("number {number} has no name"));
    channels.get(&number).map(Some).ok_or_else(unknown)
}
