use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};

use crate::ops::key_path;

/// The key of the ops interface.
#[derive(Clone, Debug)]
pub struct OpsKey {
    /// What a client sends: 32 to 512 visible ASCII characters.
    pub secret: SecretString,
    /// Whether it was made just now.
    pub made: bool,
    /// The file it lies in.
    pub path: PathBuf,
}

/// There is no usable ops key.
#[derive(Debug, thiserror::Error)]
pub enum OpsKeyError {
    /// The file is not there, and a client never makes it.
    #[error("ops key {path}: there is none; the program makes it at its first start (data, ops.key_file)")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Others may read or write the file.
    #[error(
        "ops key {path}: others may use the file (mode {mode:03o}); `chmod 600` it, or remove it to get a new key"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file holds something else.
    #[error("ops key {path}: a line of 32 to 512 visible ASCII characters is wanted in the file")]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("ops key {path}: the file cannot be {doing}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The system gives no random bytes.
    #[error("ops key {path}: there are no random bytes to make one of")]
    Random {
        /// The file.
        path: PathBuf,
    },
}

/// Reads the ops key from `key_file`, or else `ops.key` in the data folder; makes it, and its folder, where there is none.
/// Of several that make it at once, one does, and all read the same.
pub fn ops_key(data: &Path, key_file: Option<&Path>) -> Result<OpsKey, OpsKeyError> {
    let path = key_path(data, key_file);
    match read(&path) {
        Err(OpsKeyError::Missing { .. }) => {}
        other => return other,
    }
    let mut bytes = [0; 32];
    let random = aws_lc_rs::rand::fill(&mut bytes);
    random.map_err(|_| OpsKeyError::Random { path: path.clone() })?;
    let secret = SecretString::from(URL_SAFE_NO_PAD.encode(bytes));
    let made = write(&path, &secret);
    let made = made.map_err(|source| OpsKeyError::Io { path: path.clone(), doing: "written", source })?;
    if made { Ok(OpsKey { secret, made, path }) } else { read(&path) }
}

/// Reads the ops key, for a client of the running program. Never makes one.
pub fn read_ops_key(data: &Path, key_file: Option<&Path>) -> Result<OpsKey, OpsKeyError> {
    read(&key_path(data, key_file))
}

fn read(path: &Path) -> Result<OpsKey, OpsKeyError> {
    let cannot = |source| OpsKeyError::Io { path: path.to_owned(), doing: "read", source };
    let file = match File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Err(OpsKeyError::Missing { path: path.to_owned() });
        }
        other => other.map_err(cannot)?,
    };
    let mode = file.metadata().map_err(cannot)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(OpsKeyError::Open { path: path.to_owned(), mode });
    }
    let mut bytes = Vec::new();
    file.take(1_024).read_to_end(&mut bytes).map_err(cannot)?;
    let key = bytes.trim_ascii();
    let fits = (32..=512).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
    match std::str::from_utf8(key) {
        Ok(key) if fits => Ok(OpsKey { secret: key.into(), made: false, path: path.to_owned() }),
        _ => Err(OpsKeyError::Form { path: path.to_owned() }),
    }
}

/// Writes a whole file beside the place and links it there, so that nobody ever reads half a key; whether it was put
/// there, or another's was there first.
fn write(path: &Path, secret: &SecretString) -> io::Result<bool> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut mark = [0; 8];
    let random = aws_lc_rs::rand::fill(&mut mark);
    random.map_err(|_| io::Error::other("there are no random bytes"))?;
    let beside = folder.join(format!(".ops.key.{}", URL_SAFE_NO_PAD.encode(mark)));
    let put = write_new(&beside, secret).and_then(|()| fs::hard_link(&beside, path));
    // also where the link failed: what lies there is a key that nobody uses
    let removed = fs::remove_file(&beside);
    match put {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(false),
        other => other.and(removed)?,
    }
    File::open(folder)?.sync_all()?;
    Ok(true)
}

fn write_new(path: &Path, secret: &SecretString) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", secret.expose_secret())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn made_once_and_then_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("a/b");
        assert!(matches!(read_ops_key(&data, None), Err(OpsKeyError::Missing { .. })));
        let made = ops_key(&data, None).unwrap();
        let read = ops_key(&data, None).unwrap();
        assert!(made.made && !read.made && made.path == data.join("ops.key"));
        assert_eq!(made.secret.expose_secret(), read.secret.expose_secret());
        assert_eq!(URL_SAFE_NO_PAD.decode(made.secret.expose_secret()).unwrap().len(), 32);
        assert_eq!(fs::metadata(&made.path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "nothing else is left");
        assert!(!format!("{made:?}").contains(made.secret.expose_secret()));
    }

    #[test]
    fn many_at_once_get_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let keys: Vec<OpsKey> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| ops_key(folder.path(), Some(&file)).unwrap())).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(keys.iter().filter(|k| k.made).count(), 1);
        assert!(keys.iter().all(|k| k.secret.expose_secret() == keys[0].secret.expose_secret()));
    }

    #[test]
    fn an_open_or_odd_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let made = ops_key(folder.path(), None).unwrap();
        fs::set_permissions(&made.path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = ops_key(folder.path(), None).unwrap_err().to_string();
        assert!(error.contains("640") && error.contains("chmod 600"), "{error}");
        fs::set_permissions(&made.path, fs::Permissions::from_mode(0o600)).unwrap();
        for odd in ["", "short", &"two words ".repeat(5), &"x".repeat(513), "ä".repeat(40).as_str()] {
            fs::write(&made.path, odd).unwrap();
            assert!(matches!(read_ops_key(folder.path(), None), Err(OpsKeyError::Form { .. })), "{odd}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = ops_key(&file.join("data"), None).unwrap_err();
        assert!(matches!(error, OpsKeyError::Io { .. }), "{error}");
    }
}
