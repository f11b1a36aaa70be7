use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use crate::secret_file::read_secret_file;

/// The longest password, in characters.
const LONGEST: usize = 1_000;

/// Reads a password from a file: its one line.
///
/// # Errors
/// What is wrong with the file, as a phrase.
pub(crate) fn read_password(path: &Path) -> Result<SecretString, String> {
    let password = read_secret_file(path)?;
    let text = password.expose_secret();
    let fits = (1..=LONGEST).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    match fits {
        true => Ok(password),
        false => Err(format!("in the file a line of 1 to {LONGEST} characters is wanted")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_a_password() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_password(&path).map(|password| password.expose_secret().to_owned())
        };
        assert_eq!(read("a b\u{e4}\n"), Ok("a b\u{e4}".to_owned()));
        let long = "x".repeat(LONGEST + 1);
        for bad in ["", "\n", "two\nlines", &long] {
            let said = read(bad).unwrap_err();
            assert!(!said.contains("two") && !said.contains("xx"), "{said}");
        }
        assert!(read_password(&folder.path().join("none")).is_err());
    }
}
