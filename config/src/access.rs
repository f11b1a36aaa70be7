use std::{collections::BTreeMap, path::PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use directory::TokenKeys;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::{draft::Draft, key::Key, secret_file::read_secret_file, typed};

const WANTED: &str = "base64 of 32 to 64 bytes is wanted";

/// A secret that user tokens are made with, or the file it lies in.
#[derive(Deserialize)]
struct TokenKey {
    secret: Option<SecretString>,
    secret_file: Option<PathBuf>,
}

/// The section without its keys: there is nothing else in it.
#[derive(Deserialize)]
struct Rest {}

/// Who is let in, section `[access]`. Secrets in it are not shown by `Debug`.
#[derive(Clone, Debug, Default)]
pub struct Access {
    secrets: BTreeMap<String, SecretString>,
}

impl Access {
    /// By what user tokens are judged.
    pub fn token_keys(&self) -> TokenKeys {
        let mut keys = TokenKeys::default();
        for (id, secret) in &self.secrets {
            // each was judged when it was read
            if let Ok(bytes) = STANDARD.decode(secret.expose_secret()) {
                let _ = keys.add(id, &bytes);
            }
        }
        keys
    }
}

/// Reads the section `[access]`.
pub(crate) fn read_access(draft: &mut Draft) -> Access {
    let (whole, apart) = (Key::of(&["access"]), "user_token_keys");
    if draft.tree.get(whole.parts()).is_some() {
        let _: Option<Rest> = typed::read(draft, &whole, &[apart]);
    }
    let section = whole.child(apart);
    let (mut access, mut judged) = (Access::default(), TokenKeys::default());
    for id in draft.names(&section) {
        let key = section.child(&id);
        let Some(read) = typed::read::<TokenKey>(draft, &key, &[]) else { continue };
        let (inline, file) = (key.child("secret"), key.child("secret_file"));
        let (at, secret) = match (read.secret, read.secret_file) {
            (Some(secret), None) => (inline, secret),
            (None, Some(path)) => match read_secret_file(&path) {
                Ok(secret) => (file, secret),
                Err(wanted) => {
                    draft.fault(&file, wanted);
                    continue;
                }
            },
            (Some(_), Some(_)) => {
                draft.fault(&file, "only one of `secret_file` and `secret` is wanted");
                continue;
            }
            (None, None) => {
                draft.missing(&inline, "a secret is wanted, here or in the file of `secret_file`");
                continue;
            }
        };
        let bytes = STANDARD.decode(secret.expose_secret()).unwrap_or_default();
        match judged.add(&id, &bytes) {
            Ok(()) => drop(access.secrets.insert(id, secret)),
            Err(directory::BadTokenKey::Secret) => draft.fault(&at, WANTED),
            Err(why) => draft.fault(&key, why.to_string()),
        }
    }
    access
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn load(text: &str) -> Result<Config, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stepcast.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(Some(&path), [])
            .map_err(|faults| faults.0.iter().map(|fault| fault.setting.clone()).collect())
    }

    #[test]
    fn keys_come_inline_and_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, format!("{}\n", STANDARD.encode([1; 32]))).unwrap();
        let inline = STANDARD.encode([2; 64]);
        let text = format!(
            "[access.user_token_keys.a]\nsecret_file = {file:?}\n[access.user_token_keys.b]\nsecret = {inline:?}\n"
        );
        let config = load(&text).unwrap();
        let keys = config.access.token_keys();
        let at = "2026-06-07T12:00:00Z".parse().unwrap();
        assert!(keys.make(Some("a"), "1", at).is_some() && keys.make(Some("b"), "1", at).is_some());
        assert!(
            !format!("{config:?}").contains(&inline) && !config.show().any(|line| line.contains(&inline))
        );
        assert!(load("").unwrap().access.token_keys().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let short = STANDARD.encode([2; 31]);
        for (text, setting) in [
            (format!("[access.user_token_keys.a]\nsecret = {short:?}\n"), "access.user_token_keys.a.secret"),
            (
                "[access.user_token_keys.a]\nsecret = \"no base64!\"\n".to_owned(),
                "access.user_token_keys.a.secret",
            ),
            (
                "[access.user_token_keys.a]\nsecret_file = \"/none\"\n".to_owned(),
                "access.user_token_keys.a.secret_file",
            ),
            ("[access.user_token_keys.a]\n".to_owned(), "access.user_token_keys.a.secret"),
            (
                format!("[access.user_token_keys.A]\nsecret = {:?}\n", STANDARD.encode([2; 32])),
                "access.user_token_keys.A",
            ),
            ("[access]\nuser_token = 5\n".to_owned(), "access.user_token"),
        ] {
            assert_eq!(load(&text).unwrap_err(), [setting], "{text}");
        }
    }
}
