use std::sync::Arc;

use super::Command;

/// A Lua script that runs on the server, whole or not at all. Make it once (in a `LazyLock`): its digest is computed
/// here. Every key that it touches is given to [`call`](Self::call), all of them in one slot.
#[derive(Clone)]
pub struct Script(Arc<Inner>);

struct Inner {
    name: &'static str,
    code: &'static str,
    digest: String,
}

impl Script {
    /// A script; `name` is what messages call it.
    pub fn new(name: &'static str, code: &'static str) -> Self {
        let digest = ::redis::Script::new(code).get_hash().to_owned();
        Self(Arc::new(Inner { name, code, digest }))
    }

    /// A call with these keys (`KEYS`); its arguments (`ARGV`) are added to the command.
    pub fn call(&self, keys: &[impl AsRef<[u8]>]) -> Command {
        let command = Command::of(self.0.name, "EVALSHA", Some(self.clone()));
        let command = command.arg(self.0.digest.as_str()).arg(keys.len());
        keys.iter().fold(command, Command::key)
    }

    #[cfg(test)]
    pub(super) fn digest(&self) -> &str {
        &self.0.digest
    }

    /// The command that makes a server know the script.
    pub(super) fn load(&self) -> ::redis::Cmd {
        let mut command = ::redis::cmd("SCRIPT");
        command.arg("LOAD").arg(self.0.code);
        command
    }
}
