//! An item of `POST /v1/reports`: `{uid, at, steps | total, source, id}`.

use std::borrow::Cow;

use chrono::DateTime;
use domain::{Instant, Uid};
use serde::Deserialize;
use serde_json::value::RawValue;
use step_store::{Amount, ReportId, Source};

use crate::Reason;

/// An item that has the form of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) uid: Uid,
    pub(crate) at: Instant,
    pub(crate) source: Source,
    pub(crate) amount: Amount,
    pub(crate) id: Option<ReportId>,
}

/// Why an item is refused, and the field that is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    pub(crate) field: Option<&'static str>,
}

/// Each field as it stands, so that one that is wrong is told by its name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    #[serde(borrow, default)]
    uid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    at: Option<&'a RawValue>,
    #[serde(borrow, default)]
    steps: Option<&'a RawValue>,
    #[serde(borrow, default)]
    total: Option<&'a RawValue>,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

impl Refused {
    pub(crate) fn of(reason: Reason) -> Self {
        Self { reason, field: None }
    }

    fn field(field: &'static str) -> Self {
        Self { reason: Reason::Malformed, field: Some(field) }
    }
}

impl Item {
    /// An item from its JSON.
    pub(crate) fn read(json: &str) -> Result<Self, Refused> {
        // an array would be taken for the fields in their order
        let object = json.trim_start().starts_with('{');
        let fields = serde_json::from_str::<Fields<'_>>(json).ok().filter(|_| object);
        let fields = fields.ok_or(Refused::field("item"))?;
        let uid = fields.uid.and_then(uid).ok_or(Refused::field("uid"))?;
        let at = fields.at.and_then(instant).ok_or(Refused::field("at"))?;
        let source = fields.source.and_then(text).and_then(|text| text.parse::<Source>().ok());
        let source = source.ok_or(Refused::field("source"))?;
        let amount = match (fields.steps, fields.total) {
            (Some(steps), None) => Amount::Add(number(steps).ok_or(Refused::field("steps"))?),
            (None, Some(total)) => Amount::Total(number(total).ok_or(Refused::field("total"))?),
            // both, or neither
            _ => return Err(Refused::field("steps")),
        };
        let id = match fields.id.filter(|id| id.get() != "null") {
            Some(id) => {
                let text = text(id).ok_or(Refused::field("id"))?;
                Some(ReportId::of(&source, &text).map_err(|_| Refused::field("id"))?)
            }
            None if matches!(amount, Amount::Add(_)) => {
                return Err(Refused { reason: Reason::IdMissing, field: Some("id") });
            }
            None => None,
        };
        Ok(Self { uid, at, source, amount, id })
    }
}

/// A string, without copying one that has no escapes.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned)
}

/// Digits, bare or as a string: JSON's numbers are exact only up to 2^53 in many a client.
fn uid(raw: &RawValue) -> Option<Uid> {
    let digits = raw.get();
    digits.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(digits).parse().ok()
}

fn instant(raw: &RawValue) -> Option<Instant> {
    let at = DateTime::parse_from_rfc3339(&text(raw)?).ok()?.to_utc();
    // what the store can write down
    (0..253_402_300_800).contains(&at.timestamp()).then_some(at)
}

/// A whole number of steps. One that is too large to be stored at all is cut to one that is still refused for its size.
fn number(raw: &RawValue) -> Option<u32> {
    let digits = raw.get();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"uid":1001,"at":"2026-06-07T21:59:59.5+09:00","steps":500,"source":"phone","id":"r-1"}"#;

    #[test]
    fn an_item_is_read() {
        let item = Item::read(GOOD).unwrap();
        let source: Source = "phone".parse().unwrap();
        assert_eq!((item.uid, item.amount), (Uid(1001), Amount::Add(500)));
        assert_eq!(item.at, "2026-06-07T12:59:59.5Z".parse::<Instant>().unwrap());
        assert_eq!(item.id, Some(ReportId::of(&source, "r-1").unwrap()));
        let text = GOOD.replace("1001", "\"18446744073709551615\"").replace("r-1", "r\\u002d1");
        let other = Item::read(&text).unwrap();
        assert_eq!((other.uid, other.id), (Uid(u64::MAX), item.id));
        let total = r#"{"uid":1,"at":"2026-06-07T00:00:00Z","total":0,"source":"watch","id":null}"#;
        assert_eq!(Item::read(total).unwrap().amount, Amount::Total(0));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, field) in [
            ("1001", "1001.0", "uid"),
            ("1001", "-1", "uid"),
            ("1001", "\"01001x\"", "uid"),
            ("1001", "null", "uid"),
            ("2026-06-07", "2026-02-30", "at"),
            ("+09:00", "", "at"),
            ("2026-06-07T", "1969-06-07T", "at"),
            ("500", "\"12x\"", "steps"),
            ("500", "-8314", "steps"),
            ("500", "12.5", "steps"),
            ("500", "1e3", "steps"),
            ("\"steps\":500", "\"steps\":500,\"total\":7", "steps"),
            ("\"steps\":500,", "", "steps"),
            ("\"phone\"", "\"Phone!\"", "source"),
            ("\"phone\"", "7", "source"),
            ("\"r-1\"", "\"\"", "id"),
            ("\"r-1\"", "7", "id"),
            ("\"uid\"", "\"user\"", "item"),
        ] {
            let text = GOOD.replace(from, to);
            assert_eq!(Item::read(&text), Err(Refused::field(field)), "{text}");
        }
        for text in ["null", "7", "[]", "\"x\""] {
            assert_eq!(Item::read(text), Err(Refused::field("item")), "{text}");
        }
        let bare = GOOD.replace(",\"id\":\"r-1\"", "");
        let missing = Refused { reason: Reason::IdMissing, field: Some("id") };
        assert_eq!(Item::read(&bare), Err(missing));
    }

    /// C10 of the cases of trouble: what is beyond 32 bits is as large as any, and not something else.
    #[test]
    fn numbers_beyond_the_store_stay_large() {
        for (digits, wanted) in [
            ("65536", 65_536),
            ("4294967295", u32::MAX),
            ("4294967296", u32::MAX),
            ("9223372036854775808", u32::MAX),
        ] {
            let item = Item::read(&GOOD.replace("500", digits)).unwrap();
            assert_eq!(item.amount, Amount::Add(wanted));
        }
    }
}
