use std::{fs::File, io::Read, path::Path};

use secrecy::SecretString;

/// The longest file of a secret that is read, in bytes.
const LONGEST: u64 = 4_096;

/// The text of a file without the space around it.
///
/// # Errors
/// Why it cannot be read, as a phrase.
pub(crate) fn read_secret_file(path: &Path) -> Result<SecretString, String> {
    let cannot = |e: std::io::Error| format!("the file cannot be read: {e}");
    let mut text = String::new();
    File::open(path).map_err(cannot)?.take(LONGEST).read_to_string(&mut text).map_err(cannot)?;
    Ok(SecretString::from(text.trim()))
}
