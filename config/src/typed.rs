use serde::de::DeserializeOwned;
use serde_path_to_error::{Segment, Track};
use toml::{Value, de::Error};

use crate::{draft::Draft, fields::fields_of, key::Key};

/// Reads the table at `key` as a `T`, notes every setting in it that `T` does not have, and notes and repairs what has
/// the wrong type. `apart` names what is in the table and is read elsewhere. `None` if no `T` can be made of it.
pub(crate) fn read<T: DeserializeOwned>(draft: &mut Draft, key: &Key, apart: &[&str]) -> Option<T> {
    let mut known = fields_of::<T>().to_vec();
    known.extend(apart);
    if draft.tree.get(key.parts()).is_none() {
        draft.missing(key, "a section is wanted");
    }
    // each round repairs another setting, so that there cannot be more rounds than settings
    for _ in 0..=draft.names(key).len() {
        let Some(Value::Table(mut table)) = draft.tree.get(key.parts()).map(|node| node.to_value()) else {
            break;
        };
        apart.iter().for_each(|name| _ = table.remove(*name));
        let (result, unknown) = attempt::<T>(table, key);
        match result {
            Ok(value) => {
                unknown.iter().for_each(|key| draft.unknown(key, &known));
                return Some(value);
            }
            Err((at, message)) => {
                let told = draft.about(&at);
                if !told {
                    draft.fault(&at, message);
                }
                if told || at == *key {
                    unknown.iter().for_each(|key| draft.unknown(key, &known));
                    break;
                }
                draft.repair(&at);
            }
        }
    }
    None
}

/// The value or the place and kind of the first fault; and the settings that are not known.
type Attempt<T> = (Result<T, (Key, String)>, Vec<Key>);

fn attempt<T: DeserializeOwned>(table: toml::Table, key: &Key) -> Attempt<T> {
    let mut unknown = Vec::new();
    let mut track = Track::new();
    let tracked = serde_path_to_error::Deserializer::new(Value::Table(table), &mut track);
    let mut note = |path: serde_ignored::Path<'_>| unknown.push(under(key, &path));
    let result = T::deserialize(serde_ignored::Deserializer::new(tracked, &mut note));
    let result = result.map_err(|error| {
        let path = track.path();
        let names = path.iter().map_while(|segment| match segment {
            Segment::Map { key } => Some(key),
            _ => None,
        });
        let at = names.fold(key.clone(), |at, name| at.child(name));
        let message = phrase(&at, &error);
        (at, message)
    });
    (result, unknown)
}

/// serde's message, without the value where that must not be told.
fn phrase(at: &Key, error: &Error) -> String {
    let message = error.message();
    match message.rsplit_once("expected ") {
        Some((_, wanted)) => format!("{wanted} is wanted"),
        None if at.is_secret() => "another value is wanted".to_owned(),
        None => message.to_owned(),
    }
}

fn under(key: &Key, path: &serde_ignored::Path<'_>) -> Key {
    use serde_ignored::Path;
    match path {
        Path::Root => key.clone(),
        Path::Map { parent, key: name } => under(key, parent).child(name),
        Path::Seq { parent, index } => under(key, parent).child(&index.to_string()),
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            under(key, parent)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::{Origin, parse::parse};

    #[derive(Debug, Deserialize, PartialEq)]
    struct Two {
        one: u8,
        two: Option<String>,
    }

    fn read_two(text: &str) -> (Option<Two>, Vec<String>) {
        let mut draft = Draft::of_defaults();
        draft.tree = parse(text, |_| Origin::Default).0;
        let two = read(&mut draft, &Key::of(&["x"]), &["apart"]);
        (two, draft.faults.0.iter().map(|f| f.to_string()).collect())
    }

    #[test]
    fn all_faults_of_a_table_are_noted() {
        let (two, faults) = read_two("x = { one = 'a', two = 5, three = 3, twoo = 4, apart = 1 }");
        assert_eq!(two, None);
        assert_eq!(
            faults,
            [
                "x.one = \"a\": u8 is wanted (default)",
                "x.two = 5: a string is wanted (default)",
                "x.three: there is no such setting (default)",
                "x.twoo: there is no such setting; is x.two meant? (default)",
            ]
        );
    }

    #[test]
    fn what_can_be_repaired_is_read() {
        let (two, faults) = read_two("x = { one = 1, two = 5 }");
        assert_eq!((two, faults.len()), (Some(Two { one: 1, two: None }), 1));
        let (two, faults) = read_two("x = { one = 1, two = 'b', apart = [] }");
        assert_eq!((two, faults.len()), (Some(Two { one: 1, two: Some("b".into()) }), 0));
    }
}
