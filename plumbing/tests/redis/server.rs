use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use plumbing::{Redis, RedisSettings, Span};
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::place::word;

/// A Redis server of a test's own, that it may treat badly.
pub(crate) struct Server {
    pub(crate) port: u16,
    /// Where it speaks TLS, if it does.
    pub(crate) tls_port: u16,
    folder: TempDir,
    options: Vec<String>,
    child: Option<Child>,
}

impl Server {
    /// Starts one that keeps every write, with further options.
    pub(crate) async fn start(options: &[&str]) -> Self {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self { port: free_port(), tls_port: 0, folder, options, child: None };
        server.run().await;
        server
    }

    /// Starts one that speaks TLS on a second port, on every address of this machine.
    pub(crate) async fn start_tls() -> Self {
        let tls_port = free_port();
        let (port, file) = (tls_port.to_string(), |name| certificate(name).to_str().unwrap().to_owned());
        let (server, key, trusted) = (file("server.pem"), file("server.key"), file("trusted.pem"));
        let mut options =
            vec!["--tls-port", &port, "--tls-auth-clients", "no", "--bind", "127.0.0.1", "127.0.0.2"];
        options.extend(["--tls-cert-file", &server, "--tls-key-file", &key, "--tls-ca-cert-file", &trusted]);
        let mut server = Self::start(&options).await;
        server.tls_port = tls_port;
        server
    }

    /// Starts it (again) on the port and folder that it has, and waits until it answers.
    pub(crate) async fn run(&mut self) {
        let port = self.port.to_string();
        let child = Command::new("redis-server")
            .args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"])
            .args(["--appendfsync", "always", "--maxmemory-policy", "noeviction"])
            .args(&self.options)
            .arg("--dir")
            .arg(self.folder.path())
            .stdout(Stdio::null())
            .spawn();
        self.child = Some(child.unwrap());
        // one that wants a password answers too
        until(async || self.told(&["PING"]).await.map_or_else(|why| why.contains("NOAUTH"), |_| true)).await;
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Makes it hold still, with its connections open.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    pub(crate) fn settings(&self) -> RedisSettings {
        let mut settings = RedisSettings::at(vec![format!("redis://127.0.0.1:{}", self.port)], word());
        settings.timeout = Span::millis(500);
        settings
    }

    pub(crate) fn redis(&self) -> Redis {
        Redis::new(&self.settings()).unwrap()
    }

    /// Gives it a command that answers with text, as an operator would.
    pub(crate) async fn told(&self, words: &[&str]) -> Result<String, String> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let mut connection =
            client.get_multiplexed_async_connection().await.map_err(|error| error.to_string())?;
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(*word);
        }
        command.query_async(&mut connection).await.map_err(|error| error.to_string())
    }

    /// Whether it can be connected to.
    pub(crate) async fn reachable(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).await.is_ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A certificate or key for tests, by its file's name.
pub(crate) fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/amqp/certificates").join(name)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until something holds, far longer than it takes.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        while !holds().await {
            tick.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
}
