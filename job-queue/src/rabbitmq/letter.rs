//! Dead letters as messages: the original bytes as the body, the rest in headers.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use chrono::{DateTime, Utc};
use domain::{ChannelName, Instant};
use plumbing::amqp::lapin::{
    BasicProperties,
    types::{AMQPValue, FieldTable, ShortString},
};

use super::{
    message::{Message, PERSISTENT},
    names::Names,
};
use crate::{DeadId, DeadLetter, DeadReason, StoreError};

/// The headers. The id is a number in 64 bits, the time in milliseconds.
const ID: &str = "dead-id";
const CHANNEL: &str = "dead-channel";
const REASON: &str = "dead-reason";
const DETAIL: &str = "dead-detail";
const AT: &str = "dead-at";

/// The channel of a letter that tells none.
const UNKNOWN: &str = "unknown";

/// An id is the time in milliseconds and this many bits that tell those of one millisecond apart.
const TIE_BITS: u32 = 22;

/// The message of a letter, under a new id.
pub(super) fn message(queue: String, letter: &DeadLetter) -> Message {
    let DeadId(id) = next_id();
    let mut headers = FieldTable::default();
    let mut text = |name: &str, value: &str| {
        headers.insert(name.into(), AMQPValue::LongString(value.into()));
    };
    text(CHANNEL, letter.channel.as_str());
    text(REASON, letter.reason.as_str());
    text(DETAIL, &letter.detail);
    headers.insert(ID.into(), AMQPValue::LongLongInt(id.cast_signed()));
    headers.insert(AT.into(), AMQPValue::LongLongInt(letter.at.timestamp_millis()));
    let id = ShortString::from(id.to_string());
    let properties = BasicProperties::default()
        .with_delivery_mode(PERSISTENT)
        .with_message_id(id.clone())
        .with_timestamp(u64::try_from(Utc::now().timestamp()).unwrap_or(0))
        .with_headers(headers);
    Message { channel: None, queue: queue.into(), id, properties, bytes: letter.bytes.clone() }
}

/// A letter and its id as they stand in a message: one that was buried, or one that the broker gave up itself. Whatever
/// lies in the queue is some letter, and is the same at each reading.
pub(super) fn read(
    names: &Names,
    properties: &BasicProperties,
    bytes: Vec<u8>,
) -> Result<(DeadId, DeadLetter), StoreError> {
    let none = FieldTable::default();
    let headers = properties.headers().as_ref().unwrap_or(&none);
    match buried(headers, &bytes) {
        Some(letter) => Ok(letter),
        None => given_up(names, properties, headers, bytes),
    }
}

fn buried(headers: &FieldTable, bytes: &[u8]) -> Option<(DeadId, DeadLetter)> {
    let id = DeadId(number(headers, ID)?.cast_unsigned());
    let channel = text(headers, CHANNEL)?.parse().ok()?;
    let reason = text(headers, REASON)?.parse().ok()?;
    let at = DateTime::from_timestamp_millis(number(headers, AT)?)?;
    let detail = text(headers, DETAIL)?;
    Some((id, DeadLetter::new(channel, reason, detail, at, bytes.to_vec())))
}

/// The broker tells in `x-death`, the latest first, out of which queue a message went, when (in seconds) and why.
fn given_up(
    names: &Names,
    properties: &BasicProperties,
    headers: &FieldTable,
    bytes: Vec<u8>,
) -> Result<(DeadId, DeadLetter), StoreError> {
    let deaths = match headers.inner().get("x-death") {
        Some(AMQPValue::FieldArray(deaths)) => deaths.as_slice(),
        _ => &[],
    };
    let death = deaths.iter().find_map(|death| match death {
        AMQPValue::FieldTable(death) => Some((names.channel(&text(death, "queue")?)?, death)),
        _ => None,
    });
    let (channel, detail, seconds) = match death {
        Some((channel, death)) => {
            let (why, queue) =
                (text(death, "reason").unwrap_or_default(), text(death, "queue").unwrap_or_default());
            (Some(channel), format!("the broker gave it up: {why} of queue {queue}"), time(death, "time"))
        }
        None => (None, "how it came here is not known".to_owned(), None),
    };
    let seconds = seconds.or(*properties.timestamp()).and_then(|s| i64::try_from(s).ok());
    let at = seconds.and_then(|s| DateTime::from_timestamp(s, 0)).unwrap_or(Instant::UNIX_EPOCH);
    let id = id(at.timestamp_millis(), fingerprint(properties, &bytes));
    let channel = match channel {
        Some(channel) => channel,
        None => UNKNOWN.parse::<ChannelName>().map_err(|e| StoreError::corrupt("dead letter", e))?,
    };
    Ok((id, DeadLetter::new(channel, DeadReason::Unworkable, detail, at, bytes)))
}

/// An id above all that this process gave before; those of other processes in the same millisecond differ by chance.
fn next_id() -> DeadId {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let DeadId(now) = id(Utc::now().timestamp_millis(), RandomState::new().hash_one(0u8));
    let above = |last: u64| Some(now.max(last.saturating_add(1)));
    let last = LAST.fetch_update(Ordering::AcqRel, Ordering::Acquire, above).unwrap_or_else(|last| last);
    DeadId(now.max(last.saturating_add(1)))
}

fn id(ms: i64, tie: u64) -> DeadId {
    let ms = u64::try_from(ms).unwrap_or(0) & (u64::MAX >> TIE_BITS);
    DeadId(ms << TIE_BITS | tie >> (u64::BITS - TIE_BITS))
}

/// FNV-1a in 64 bits (draft-eastlake-fnv) over id and bytes, the same in every release.
fn fingerprint(properties: &BasicProperties, bytes: &[u8]) -> u64 {
    let id = properties.message_id().as_ref().map_or(&[][..], |id| id.as_str().as_bytes());
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    // the zeros carry what the last bytes change up to the highest bits, which are the ones that are used
    id.iter().chain(bytes).chain(&[0; 4]).fold(0xcbf2_9ce4_8422_2325, step)
}

fn text(table: &FieldTable, name: &str) -> Option<String> {
    match table.inner().get(name)? {
        AMQPValue::LongString(text) => Some(text.to_string()),
        AMQPValue::ShortString(text) => Some(text.to_string()),
        _ => None,
    }
}

fn number(table: &FieldTable, name: &str) -> Option<i64> {
    match table.inner().get(name)? {
        AMQPValue::LongLongInt(number) => Some(*number),
        AMQPValue::LongInt(number) => Some((*number).into()),
        _ => None,
    }
}

fn time(table: &FieldTable, name: &str) -> Option<u64> {
    match table.inner().get(name)? {
        AMQPValue::Timestamp(seconds) => Some(*seconds),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new("t")
    }

    fn table(entries: &[(&str, AMQPValue)]) -> FieldTable {
        let mut table = FieldTable::default();
        for (name, value) in entries {
            table.insert((*name).into(), value.clone());
        }
        table
    }

    fn long(text: &str) -> AMQPValue {
        AMQPValue::LongString(text.into())
    }

    #[test]
    fn a_letter_reads_as_it_was_buried_and_ids_rise() {
        let at = DateTime::from_timestamp_millis(1_780_862_400_123).unwrap();
        let (mut last, before) = (DeadId(0), Utc::now().timestamp_millis());
        for (n, reason) in (0..).zip(DeadReason::ALL) {
            let letter = DeadLetter::new("stub".parse().unwrap(), reason, "é", at, vec![n]);
            let message = message("t.dead".into(), &letter);
            let (id, read) = read(&names(), &message.properties, message.bytes).unwrap();
            assert_eq!(read, letter);
            assert!(id > last && id.0 >> TIE_BITS >= u64::try_from(before).unwrap());
            last = id;
        }
    }

    #[test]
    fn what_the_broker_gave_up_tells_channel_time_and_why() {
        let death = |queue: &str, reason: &str| {
            let entries = [
                ("queue", long(queue)),
                ("reason", long(reason)),
                ("time", AMQPValue::Timestamp(1_780_862_400)),
            ];
            AMQPValue::FieldTable(table(&entries))
        };
        let deaths =
            [death("other", "x"), death("t.web-push", "delivery_limit"), death("t.stub.wait.1", "expired")];
        let headers = table(&[("x-death", AMQPValue::FieldArray(deaths.to_vec().into()))]);
        let properties = BasicProperties::default().with_headers(headers);
        let (id, letter) = read(&names(), &properties, b"5".to_vec()).unwrap();
        assert_eq!(letter.channel.as_str(), "web-push");
        assert_eq!((letter.reason, letter.at.timestamp()), (DeadReason::Unworkable, 1_780_862_400));
        assert!(letter.detail.contains("delivery_limit of queue t.web-push"), "{}", letter.detail);
        assert_eq!(read(&names(), &properties, b"5".to_vec()).unwrap().0, id);
        assert_ne!(read(&names(), &properties, b"6".to_vec()).unwrap().0, id);
    }

    #[test]
    fn whatever_else_lies_there_is_a_letter_too() {
        let odd = [
            FieldTable::default(),
            table(&[("x-death", long("?")), (ID, long("7"))]),
            table(&[("x-death", AMQPValue::FieldArray(vec![AMQPValue::Void].into())), (AT, AMQPValue::Void)]),
            table(&[(ID, AMQPValue::LongLongInt(-1)), (CHANNEL, long("NO")), (REASON, long("bored"))]),
        ];
        for headers in odd {
            let properties = BasicProperties::default().with_headers(headers).with_timestamp(u64::MAX);
            let (_, letter) = read(&names(), &properties, vec![1]).unwrap();
            assert_eq!((letter.channel.as_str(), letter.reason), ("unknown", DeadReason::Unworkable));
            assert_eq!((letter.bytes, letter.at), (vec![1], Instant::UNIX_EPOCH));
        }
    }
}
