use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret, SecretString};
use sender::channel::WebhookSettings;

use crate::{draft::Draft, key::Key, secret_file::read_secret_file};

const WANTED: &str = "`whsec_` and base64 of 24 to 64 bytes is wanted";

/// Fills `secret` from `secret_file` and judges it: parts other than this one never read secrets.
pub(crate) fn resolve_secret(draft: &mut Draft, key: &Key, settings: &mut WebhookSettings) {
    let (inline, file) = (key.child("secret"), key.child("secret_file"));
    if let Some(secret) = &settings.secret
        && !is_secret(secret.expose_secret())
    {
        draft.fault(&inline, WANTED);
    }
    match (&settings.secret, &settings.secret_file) {
        (None, None) if !draft.about(&file) => {
            draft.missing(&inline, "a signing secret is wanted, here or in the file of `secret_file`");
        }
        (Some(_), Some(_)) => {
            let origin = draft.tree.nearest(&inline).origin.clone();
            draft.fault(
                &file,
                format!("only one of `secret_file` and `secret` is wanted; `secret` is set by {origin}"),
            );
        }
        (None, Some(path)) => match read_secret(path) {
            Ok(secret) => {
                settings.secret = Some(secret);
                // to the sender a secret and a file are one too many
                settings.secret_file = None;
            }
            Err(wanted) => draft.fault(&file, wanted),
        },
        _ => {}
    }
}

fn read_secret(path: &Path) -> Result<SecretString, String> {
    let secret = read_secret_file(path)?;
    is_secret(secret.expose_secret()).then_some(secret).ok_or_else(|| format!("in the file {WANTED}"))
}

/// The form of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
fn is_secret(text: &str) -> bool {
    let bytes = text.strip_prefix("whsec_").and_then(|rest| STANDARD.decode(rest).ok());
    bytes.is_some_and(|bytes| (24..=64).contains(&bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_secret() {
        let of = |n: usize| format!("whsec_{}", STANDARD.encode(vec![7; n]));
        for (n, good) in [(23, false), (24, true), (64, true), (65, false), (0, false)] {
            assert_eq!(is_secret(&of(n)), good, "{n}");
        }
        // the example of the specification
        assert!(is_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assert!(!is_secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assert!(!is_secret("whsec_not base64!"));
    }

    #[test]
    fn a_file_is_read_without_its_line_break() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hook");
        std::fs::write(&path, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
        assert_eq!(read_secret(&path).unwrap().expose_secret(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        std::fs::write(&path, vec![0xff; 10]).unwrap();
        assert!(read_secret(&path).is_err());
        assert!(read_secret(folder.path()).is_err());
    }
}
