use serde::de::{Deserialize, Deserializer, Visitor, value::Error};

/// The names of the settings of a struct, as its `Deserialize` asks for them. Empty for what is not a struct.
pub(crate) fn fields_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // it always fails: the names are all there is
    let _ = T::deserialize(Listener(&mut names));
    names
}

/// Holds no value; hears which fields are asked for.
struct Listener<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(serde::de::Error::custom("only the names were asked for"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("not a struct"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_struct() {
        #[derive(serde::Deserialize)]
        #[allow(dead_code, reason = "only its names count")]
        struct Two {
            one: u8,
            #[serde(rename = "second")]
            two: Option<String>,
        }
        assert_eq!(fields_of::<Two>(), ["one", "second"]);
        assert!(fields_of::<String>().is_empty());
    }
}
