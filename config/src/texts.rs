use std::collections::BTreeMap;

use domain::Language;
use sender::{TextError, Texts};
use serde::Deserialize;

use crate::{draft::Draft, key::Key, typed};

/// The text of a push in one language: minijinja templates over `steps`, `steps_grouped`, `day` and `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Template of the title, 1 to 500 characters.
    pub title: String,
    /// Template of the text, 1 to 4,000 characters.
    pub body: String,
}

#[derive(Deserialize)]
struct Keys {
    title: Option<String>,
    body: Option<String>,
}

/// The most texts of a campaign.
const MOST: usize = 200;

/// Reads the texts at `key` and tries their templates. A text that is at fault is left in, so that its language counts as
/// there.
pub(crate) fn read_texts(draft: &mut Draft, key: &Key) -> BTreeMap<Language, Text> {
    let mut texts = BTreeMap::<Language, Text>::new();
    let languages = draft.names(key);
    if languages.len() > MOST {
        draft.fault(key, format!("at most {MOST} texts are wanted"));
    }
    for name in languages.iter().take(MOST) {
        let key = key.child(name);
        let Some(keys) = typed::read::<Keys>(draft, &key, &[]) else { continue };
        let [title, body] = [("title", keys.title), ("body", keys.body)].map(|(part, text)| {
            let place = key.child(part);
            match &text {
                None => draft.missing(&place, "a text in quotes is wanted"),
                Some(text) => try_template(draft, &place, text),
            }
            text.unwrap_or_default()
        });
        match name.parse::<Language>() {
            Err(bad) => draft.fault(&key, bad.wanted),
            Ok(language) if texts.keys().any(|l| l.as_str().eq_ignore_ascii_case(name)) => {
                draft.fault(&key, format!("{language} is there already; the case of a tag does not count"));
            }
            Ok(language) => _ = texts.insert(language, Text { title, body }),
        }
    }
    texts
}

/// Compiles and renders one template by itself, so that each part of each language is judged.
fn try_template(draft: &mut Draft, place: &Key, template: &str) {
    if draft.about(place) {
        return;
    }
    let stand_in = "-".to_owned();
    let parts = match place.split() {
        Some((_, "title")) => (template.to_owned(), stand_in),
        _ => (stand_in, template.to_owned()),
    };
    let language = Language::default();
    let problem = match Texts::new(&BTreeMap::from([(language.clone(), parts)]), &language) {
        Ok(_) => return,
        Err(TextError::Template { detail, .. }) => format!("a template is wanted: {detail}"),
        Err(TextError::TooLong { length, most, .. }) => {
            format!("at most {most} characters are wanted; {length} come out")
        }
        Err(other) => other.to_string(),
    };
    draft.fault(place, problem);
}
