//! A uid in JSON: a whole number, or the same in decimal digits for clients whose numbers stop at 2^53.

use std::fmt;

use domain::Uid;
use serde::{
    Deserializer, Serializer,
    de::{Error, Visitor},
};

pub(super) fn serialize<S: Serializer>(uid: &Option<Uid>, to: S) -> Result<S::Ok, S::Error> {
    match uid {
        Some(uid) => to.serialize_u64(uid.0),
        None => to.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Uid>, D::Error> {
    from.deserialize_any(UidVisitor)
}

struct UidVisitor;

impl Visitor<'_> for UidVisitor {
    type Value = Option<Uid>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 to 18446744073709551615")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Uid(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse().map(Some).map_err(E::custom)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
