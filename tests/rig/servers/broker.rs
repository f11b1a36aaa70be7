use std::path::Path;

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

use super::{Guarded, free_port};
use crate::wait::{MOST, until};

/// A `rabbitmq-server` of the test's own. It takes some seconds to boot: tests that can share one do.
#[derive(Debug)]
pub struct Broker {
    folder: TempDir,
    port: u16,
    distribution: u16,
    names: u16,
    settings: String,
    process: Option<Guarded>,
    /// The Erlang port mapper, which the server would start by itself, and leave behind.
    _mapper: Guarded,
}

/// Where Debian's packages and others keep the scripts themselves; those in /usr/sbin change the user and the folder.
const SCRIPTS: [&str; 3] = ["/usr/lib/rabbitmq/bin", "/opt/rabbitmq/sbin", "/usr/local/sbin"];
/// Before an answer of AMQP 0-9-1 comes, this is sent.
const GREETING: &[u8; 8] = b"AMQP\x00\x00\x09\x01";

impl Broker {
    /// Starts one and waits until it speaks. `settings` are added to its `rabbitmq.conf`: `"consumer_timeout = 4000\n"`.
    pub async fn start(settings: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("stepcast-rabbit-").tempdir().unwrap();
        let names = free_port();
        let mapper = ["epmd", "-address", "127.0.0.1", "-port", &names.to_string()];
        let mapper = Guarded::start(&mapper, &[], &folder.path().join("epmd.log"));
        let (port, distribution) = (free_port(), free_port());
        let settings = settings.to_owned();
        let mut broker = Self { folder, port, distribution, names, settings, process: None, _mapper: mapper };
        broker.restart().await;
        broker
    }

    /// Starts it again after it ended, on the same port and folder, and waits until it speaks.
    pub async fn restart(&mut self) {
        self.process = None;
        let own = format!(
            "listeners.tcp.1 = 127.0.0.1:{}\nloopback_users.guest = true\nlog.console = true\nlog.console.level = info\n\
             log.file = false\ndisk_free_limit.absolute = 50MB\nvm_memory_high_watermark.relative = 0.6\n\
             raft.wal_max_size_bytes = 33554432\n",
            self.port
        );
        std::fs::write(self.path().join("rabbitmq.conf"), own + &self.settings).unwrap();
        // the channels look at their acknowledgements this often, and once a minute otherwise
        std::fs::write(self.path().join("advanced.config"), "[{rabbit, [{channel_tick_interval, 1000}]}].\n")
            .unwrap();
        let log = self.path().join("rabbit.log");
        self.process = Some(Guarded::start(&[&script("rabbitmq-server")], &self.environment(), &log));
        until("rabbitmq-server to speak", MOST, async || {
            let ended = self.process.as_mut().is_none_or(Guarded::ended);
            assert!(
                !ended,
                "rabbitmq-server ended:\n{}",
                self.process.as_ref().map_or_else(String::new, Guarded::said)
            );
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
            stream.write_all(GREETING).await.ok()?;
            // the first frame is on channel 0 and of the kind "method"
            (stream.read_u8().await.ok()? == 1).then_some(())
        })
        .await;
    }

    /// Ends it by SIGKILL.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Stops it in its tracks: connections stand, nobody answers.
    pub fn freeze(&self) {
        self.process.as_ref().unwrap().signal_all("STOP");
    }

    /// Lets it go on after [`Broker::freeze`].
    pub fn thaw(&self) {
        self.process.as_ref().unwrap().signal_all("CONT");
    }

    /// Runs `rabbitmqctl` and answers what it prints. Ends the test on an error.
    pub async fn ctl(&self, args: &[&str]) -> String {
        let mut command = Command::new(script("rabbitmqctl"));
        command.args(["--quiet", "--timeout", "30"]).args(args).env_clear().kill_on_drop(true);
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.envs(self.environment());
        let output = command.output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, complained) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "rabbitmqctl {args:?}: {said}{complained}");
        said
    }

    /// Sets off the memory alarm: publishers are blocked.
    pub async fn raise_alarm(&self) {
        self.ctl(&["set_vm_memory_high_watermark", "0"]).await;
    }

    /// Ends the memory alarm.
    pub async fn clear_alarm(&self) {
        self.ctl(&["set_vm_memory_high_watermark", "0.6"]).await;
    }

    /// Deletes a queue with all that is in it.
    pub async fn delete_queue(&self, name: &str) {
        self.ctl(&["delete_queue", name]).await;
    }

    /// Closes every connection from the broker's side; answers at once how many there were.
    pub async fn close_connections(&self) -> usize {
        let open =
            self.ctl(&["list_connections", "pid"]).await.lines().filter(|l| l.starts_with('<')).count();
        self.ctl(&["close_all_connections", "closed by a test"]).await;
        open
    }

    /// Closes every channel that consumes with the error that a late acknowledgement gets, and leaves its connection.
    pub async fn close_consuming_channels(&self) {
        // an acknowledgement of what was never delivered, as if the client had sent it
        self.eval(
            "[rabbit_channel:do(C, {'basic.ack', 999999999, false}) || C <- rabbit_channel:list(), \
             [{consumer_count, N}] <- [rabbit_channel:info(C, [consumer_count])], N > 0].",
        )
        .await;
    }

    /// Evaluates Erlang in the broker.
    pub async fn eval(&self, expression: &str) -> String {
        self.ctl(&["eval", expression]).await
    }

    /// The queues there are, with what is ready and what is not acknowledged in each.
    pub async fn queues(&self) -> Vec<(String, u64, u64)> {
        let columns =
            ["list_queues", "--no-table-headers", "name", "messages_ready", "messages_unacknowledged"];
        let listed = self.ctl(&columns).await;
        let row = |line: &str| {
            let mut cells = line.split('\t');
            let name = cells.next()?.to_owned();
            Some((name, cells.next()?.trim().parse().ok()?, cells.next()?.trim().parse().ok()?))
        };
        listed.lines().filter_map(row).collect()
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// `amqp://127.0.0.1:PORT/%2f`; the user is guest, and so is the password.
    pub fn url(&self) -> String {
        format!("amqp://{}/%2f", self.address())
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |name: &str| self.path().join(name).to_str().unwrap().to_owned();
        vec![
            ("HOME", path("")),
            ("RABBITMQ_NODENAME", format!("it{}@localhost", self.port)),
            ("RABBITMQ_DIST_PORT", self.distribution.to_string()),
            ("RABBITMQ_MNESIA_BASE", path("mnesia")),
            ("RABBITMQ_LOG_BASE", path("log")),
            ("RABBITMQ_ENABLED_PLUGINS_FILE", path("enabled_plugins")),
            ("RABBITMQ_CONFIG_FILE", path("rabbitmq.conf")),
            ("RABBITMQ_ADVANCED_CONFIG_FILE", path("advanced.config")),
            ("RABBITMQ_CONF_ENV_FILE", path("none.conf")),
            ("ERL_EPMD_PORT", self.names.to_string()),
            ("ERL_EPMD_ADDRESS", "127.0.0.1".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}".to_owned()),
        ]
    }
}

fn script(name: &str) -> String {
    let found =
        SCRIPTS.iter().map(|folder| format!("{folder}/{name}")).find(|path| Path::new(path).is_file());
    found.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_speaks_again_after_a_kill_and_does_not_outlive_its_owner() {
        let mut broker = Broker::start("").await;
        assert_eq!(broker.queues().await, []);
        broker.raise_alarm().await;
        assert!(broker.ctl(&["list_connections", "pid"]).await.is_empty());
        broker.clear_alarm().await;
        broker.kill();
        broker.restart().await;
        assert_eq!(broker.close_connections().await, 0);
        let address = broker.address();
        drop(broker);
        assert!(std::net::TcpStream::connect(address).is_err());
    }
}
