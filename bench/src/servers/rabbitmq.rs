use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

use super::{exchange, free_port, ready};
use crate::daemon::Daemon;

/// A RabbitMQ node, with an Erlang port mapper of its own.
pub(crate) struct RabbitMq {
    node: Daemon,
    _mapper: Daemon,
    port: u16,
}

/// The server itself: the command of the same name in the path changes to another user.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
/// What a client says first (AMQP 0-9-1, 4.2.2).
const HEADER: &[u8] = b"AMQP\0\0\x09\x01";

impl RabbitMq {
    /// Starts a node with folders of its own inside `folder`.
    pub(crate) fn start(folder: &Path) -> anyhow::Result<Self> {
        ensure!(Path::new(SERVER).exists(), "{SERVER} is not there: install rabbitmq-server");
        let folder = folder.join("rabbitmq");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let (port, distribution, mapper_port) = (free_port()?, free_port()?, free_port()?.to_string());
        let settings = format!(
            "listeners.tcp.1 = 127.0.0.1:{port}\nlog.console = true\nlog.file = false\n\
             disk_free_limit.absolute = 50MB\nvm_memory_high_watermark.relative = 0.4\n"
        );
        fs::write(folder.join("rabbitmq.conf"), settings)?;
        fs::write(folder.join("plugins"), "[].\n")?;

        let mut mapper = Command::new("epmd");
        mapper.args(["-address", "127.0.0.1", "-port", &mapper_port]).stdin(Stdio::null());
        let mapper = Daemon::start("epmd", &mut mapper, folder.join("epmd.log"))?;

        let mut command = Command::new(SERVER);
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", &folder)
            .env("LANG", "C.UTF-8")
            // the script becomes the node instead of waiting for it, so that what is killed is the node
            .env("RUNNING_UNDER_SYSTEMD", "true")
            .env("ERL_EPMD_PORT", mapper_port)
            .env("RABBITMQ_NODENAME", format!("bench{port}@localhost"))
            .env("RABBITMQ_DIST_PORT", distribution.to_string())
            .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}")
            .env("RABBITMQ_MNESIA_BASE", folder.join("data"))
            .env("RABBITMQ_LOG_BASE", folder.join("log"))
            .env("RABBITMQ_CONFIG_FILE", folder.join("rabbitmq.conf"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
            .current_dir(&folder)
            .stdin(Stdio::null());
        let mut node = Daemon::start("rabbitmq-server", &mut command, folder.join("rabbitmq.log"))?;
        // frame 1 on channel 0: the server begins
        ready(&mut node, || Ok(exchange(port, HEADER, 3)? == [1, 0, 0]))?;
        Ok(Self { node, _mapper: mapper, port })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.node.pid()
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("amqp://127.0.0.1:{}/%2f", self.port)
    }

    /// The same with the user that every node begins with.
    pub(crate) fn url_with_user(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs rabbitmq-server"]
    fn one_starts_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let node = RabbitMq::start(folder.path()).unwrap();
        let port = node.port;
        assert!(crate::process::tree_cpu(node.pid()).unwrap() > std::time::Duration::from_millis(100));
        drop(node);
        assert!(exchange(port, HEADER, 3).is_err());
    }
}
