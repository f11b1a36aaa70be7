use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

/// The name of the certificate's file.
pub(crate) const CERTIFICATE: &str = "certificate.pem";
/// The name of the key's file.
pub(crate) const KEY: &str = "key.pem";

/// A server's certificate for 127.0.0.1 that vouches for itself, and its key, both PEM.
pub(crate) struct Certificate {
    pub(crate) file: PathBuf,
    key: PathBuf,
}

impl Certificate {
    /// Makes one in `folder`, good for a day, with OpenSSL's command.
    pub(crate) fn make(folder: &Path) -> anyhow::Result<Self> {
        let made = Self { file: folder.join(CERTIFICATE), key: folder.join(KEY) };
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.args(["-days", "1", "-subj", "/CN=stepcast bench", "-addext", "subjectAltName=IP:127.0.0.1"]);
        command.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
        command.arg("-keyout").arg(&made.key).arg("-out").arg(&made.file);
        let done = command.output().context("openssl (Debian: openssl) is needed")?;
        if !done.status.success() {
            bail!("openssl req: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr));
        }
        Ok(made)
    }
}
