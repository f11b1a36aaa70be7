use std::fmt;

/// The place of a setting: its names from the outermost table inward. Written with dots, `sender.chunk`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Vec<String>);

/// The longest part of a key that is written out: a key of somebody's file may be of any length.
const LONGEST: usize = 64;

impl Key {
    /// The key of these names; `[]` is the whole configuration.
    pub(crate) fn of<S: AsRef<str>>(parts: &[S]) -> Self {
        Self(parts.iter().map(|p| p.as_ref().to_owned()).collect())
    }

    /// The key of `name` in the table of this key.
    pub(crate) fn child(&self, name: &str) -> Self {
        let mut parts = self.0.clone();
        parts.push(name.to_owned());
        Self(parts)
    }

    /// Its names, outermost first.
    pub(crate) fn parts(&self) -> &[String] {
        &self.0
    }

    /// The table it lies in and its name there; `None` for the whole.
    pub(crate) fn split(&self) -> Option<(&[String], &str)> {
        self.0.split_last().map(|(name, table)| (table, name.as_str()))
    }

    /// Whether it is `other` or lies in it.
    pub(crate) fn is_in(&self, other: &Key) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Whether its value must never be shown.
    pub(crate) fn is_secret(&self) -> bool {
        let is = |n: &str, word: &str| n.strip_suffix(word).is_some_and(|n| n.is_empty() || n.ends_with('_'));
        self.0.last().is_some_and(|n| is(n, "secret") || is(n, "password"))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            let bare =
                !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
            match part.char_indices().nth(LONGEST) {
                Some((end, _)) => write!(f, "{:?}...", &part[..end])?,
                None if bare => f.write_str(part)?,
                None => write!(f, "{part:?}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_quoted_and_cut() {
        assert_eq!(Key::of(&["text", "zh-Hans"]).to_string(), "text.zh-Hans");
        assert_eq!(Key::of(&["a", "", "b\nc"]).to_string(), "a.\"\".\"b\\nc\"");
        assert!(Key::of(&["x".repeat(10_000)]).to_string().len() < 80);
    }

    #[test]
    fn a_secret_is_known_by_its_name() {
        assert!(Key::of(&["channels", "hook", "secret"]).is_secret());
        assert!(Key::of(&["stores", "password"]).is_secret() && Key::of(&["old_password"]).is_secret());
        assert!(!Key::of(&["channels", "hook", "secret_file"]).is_secret());
        assert!(!Key::of(&["stores", "password_file"]).is_secret());
    }
}
