//! What a push says: a title and a body by language.

mod check;
mod said;
mod words;

use std::{collections::BTreeMap, fmt};

use domain::{Day, LONGEST_TAG, Language};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use self::said::Said;

/// The longest a title may come out, in characters.
pub const LONGEST_TITLE: usize = 200;
/// The longest a body may come out, in characters.
pub const LONGEST_BODY: usize = 2_000;
/// The longest a template may be, in bytes.
const LONGEST_TEMPLATE: usize = 20_000;

/// The work one template may do, in steps of the engine (64 bytes written count as one): far above what a text needs,
/// and done in about a millisecond.
const FUEL: u64 = 5_000;

/// The texts of a campaign, compiled. Templates are Jinja's, with the variables `steps`, `steps_grouped`, `name` and
/// `day`; an unknown variable is an error, nothing is escaped, and the work a template may do is bounded.
#[derive(Debug)]
pub struct Texts {
    engine: Environment<'static>,
    /// By tag in lower case: BCP 47 tags are the same in any case.
    languages: BTreeMap<String, Names>,
    fallback: Names,
}

/// The names of a language's templates in the engine.
#[derive(Clone, Debug)]
struct Names {
    language: Language,
    title: String,
    body: String,
}

/// What a text can speak of. `Debug` leaves the name out.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// The user's name; may be empty.
    pub name: &'a str,
    /// The user's steps of the `Day`.
    pub steps: u32,
    /// The `Day` of the night.
    pub day: Day,
}

/// The two parts of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The title.
    Title,
    /// The body.
    Body,
}

/// A text that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The template is at fault.
    #[error("text {language}, {part}: {detail}")]
    Template {
        /// The language.
        language: Language,
        /// The part.
        part: Part,
        /// What is wrong, without a user's values.
        detail: String,
    },
    /// It comes out too long.
    #[error("text {language}, {part}: {length} characters come out, {most} are the most")]
    TooLong {
        /// The language.
        language: Language,
        /// The part.
        part: Part,
        /// Characters that came out.
        length: usize,
        /// Characters that may.
        most: usize,
    },
    /// The language to fall back to has no text.
    #[error("text {0}: it is the language to fall back to, and has none")]
    NoFallback(Language),
    /// Two tags that differ in case alone.
    #[error("text {0}: given twice, the case of a tag does not count")]
    Twice(Language),
}

impl Texts {
    /// Compiles the texts, (title, body) by language, and tries each with samples. `fallback` is the language of those
    /// whose own has none.
    ///
    /// # Errors
    /// The first text at fault: a template that does not compile, names an unknown variable, fails on a sample or comes
    /// out too long; no text for `fallback`.
    pub fn new(
        by_language: &BTreeMap<Language, (String, String)>,
        fallback: &Language,
    ) -> Result<Self, TextError> {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(UndefinedBehavior::Strict);
        engine.set_auto_escape_callback(|_| AutoEscape::None);
        engine.set_fuel(Some(FUEL));
        let mut languages = BTreeMap::new();
        for (language, (title, body)) in by_language {
            let names = Names {
                language: language.clone(),
                title: format!("{language}.title"),
                body: format!("{language}.body"),
            };
            names.compile(&mut engine, title, body)?;
            if languages.insert(lower(language.as_str()), names).is_some() {
                return Err(TextError::Twice(language.clone()));
            }
        }
        let known = languages.get(&lower(fallback.as_str())).cloned();
        let fallback = known.ok_or_else(|| TextError::NoFallback(fallback.clone()))?;
        let texts = Self { engine, languages, fallback };
        texts.check()?;
        Ok(texts)
    }

    /// The title and body for a user: in their language, else in its shorter forms (`zh-Hant-TW`, `zh-Hant`, `zh`),
    /// else in the language to fall back to.
    ///
    /// # Errors
    /// A text that fails on these values or comes out too long.
    pub fn render(&self, language: &Language, values: Values<'_>) -> Result<(String, String), TextError> {
        let mut buffer = [0; LONGEST_TAG];
        let own = language.fallbacks().find_map(|tag| self.languages.get(lower_in(tag, &mut buffer)?));
        self.render_in(own.unwrap_or(&self.fallback), values)
    }

    fn render_in(&self, names: &Names, values: Values<'_>) -> Result<(String, String), TextError> {
        let values = Said::of(values);
        let part = |part| -> Result<String, TextError> {
            let rendered = self.engine.get_template(names.of(part)).and_then(|t| t.render(values.clone()));
            let text = rendered.map_err(|e| names.fault(part, brief(&e)))?;
            // bytes are never fewer than characters, and quicker to count
            let most = part.most();
            if text.len() > most && text.chars().count() > most {
                let length = text.chars().count();
                return Err(TextError::TooLong { language: names.language.clone(), part, length, most });
            }
            Ok(text)
        };
        Ok((part(Part::Title)?, part(Part::Body)?))
    }
}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("steps", &self.steps).field("day", &self.day).finish_non_exhaustive()
    }
}

impl Names {
    fn of(&self, part: Part) -> &str {
        match part {
            Part::Title => &self.title,
            Part::Body => &self.body,
        }
    }

    fn compile(&self, engine: &mut Environment<'static>, title: &str, body: &str) -> Result<(), TextError> {
        for (part, source) in [(Part::Title, title), (Part::Body, body)] {
            if source.len() > LONGEST_TEMPLATE {
                return Err(
                    self.fault(part, format!("a template of at most {LONGEST_TEMPLATE} bytes is wanted"))
                );
            }
            engine
                .add_template_owned(self.of(part).to_owned(), source.to_owned())
                .map_err(|e| self.fault(part, e.to_string()))?;
        }
        Ok(())
    }

    fn fault(&self, part: Part, detail: String) -> TextError {
        TextError::Template { language: self.language.clone(), part, detail }
    }
}

impl Part {
    fn most(self) -> usize {
        match self {
            Part::Title => LONGEST_TITLE,
            Part::Body => LONGEST_BODY,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Title => "title",
            Part::Body => "body",
        })
    }
}

fn lower(tag: &str) -> String {
    tag.to_ascii_lowercase()
}

/// The same without an allocation; `None` for what is too long for a tag.
fn lower_in<'b>(tag: &str, buffer: &'b mut [u8; LONGEST_TAG]) -> Option<&'b str> {
    let lower = buffer.get_mut(..tag.len())?;
    lower.copy_from_slice(tag.as_bytes());
    lower.make_ascii_lowercase();
    std::str::from_utf8(lower).ok()
}

/// Kind and line only: the engine's own words may repeat a value, such as a user's name.
fn brief(error: &minijinja::Error) -> String {
    match error.line() {
        Some(line) => format!("{} in line {line}", error.kind()),
        None => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests;
