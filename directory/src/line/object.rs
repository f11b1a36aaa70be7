//! A struct in JSON written as an object and not as an array of its fields, which serde would take too.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

/// A `T` written as an object.
#[derive(Debug)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// An optional array of objects, for `deserialize_with`.
pub fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<T>>, D::Error> {
    let objects = Option::<Vec<Object<T>>>::deserialize(from)?;
    Ok(objects.map(|objects| objects.into_iter().map(|Object(inner)| inner).collect()))
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}
