use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    process::ExitStatus,
    time::Duration,
};

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::process::Child;

use crate::{
    command::command,
    signal::signal,
    wait::{MOST, until},
};

/// A `stepcast run` at work. It is killed, by its id, when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    data: PathBuf,
    log: PathBuf,
    /// Where in the log this start begins.
    log_from: usize,
    client: Client,
    address: String,
    key: String,
}

/// Starts the program. What it logs is added to the file `log`.
pub(crate) fn spawn(data: &Path, log: &Path, args: &[&str]) -> Running {
    // the address of the start before would be taken for this one's
    let _ = fs::remove_file(data.join("ops.addr"));
    let into = OpenOptions::new().create(true).append(true).open(log).unwrap();
    let log_from = usize::try_from(into.metadata().unwrap().len()).unwrap();
    let child = command(args).stdout(into.try_clone().unwrap()).stderr(into).spawn().unwrap();
    let client = Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap();
    let (address, key) = (String::new(), String::new());
    Running { child, data: data.to_owned(), log: log.to_owned(), log_from, client, address, key }
}

impl Running {
    /// Waits until the ops API answers; ends the test when the program ends instead.
    pub async fn ready(mut self) -> Self {
        until("the ops API to answer", MOST, async || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("stepcast run ended with {status}:\n{}", self.log());
            }
            self.address = fs::read_to_string(self.data.join("ops.addr")).ok()?.trim().to_owned();
            self.key = fs::read_to_string(self.data.join("ops.key")).ok()?.trim().to_owned();
            self.client.get(format!("http://{}/livez", self.address)).send().await.ok()
        })
        .await;
        self
    }

    /// What this start has logged so far.
    pub fn log(&self) -> String {
        let bytes = fs::read(&self.log).unwrap();
        String::from_utf8_lossy(&bytes[self.log_from..]).into_owned()
    }

    /// `GET` without a key: status and text.
    pub async fn get_open(&self, path: &str) -> (u16, String) {
        let answer = self.client.get(self.url(path)).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// `GET` with the ops key: status and JSON.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(self.client.get(self.url(path))).await
    }

    /// `POST` with the ops key: status and JSON.
    pub async fn post(&self, path: &str, body: impl Into<String>) -> (u16, Value) {
        let request = self.client.post(self.url(path)).header("content-type", "application/json");
        self.ask(request.body(body.into())).await
    }

    /// Moves the clock.
    pub async fn move_clock(&self, to: &str) {
        let (status, answer) = self.post("/ops/v1/clock", json!({ "to": to }).to_string()).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// The sums of a night, once it is sealed; `None` also where the program or its stores do not answer.
    pub async fn night(&self, campaign: &str, day: &str) -> Option<Value> {
        let url = self.url(&format!("/ops/v1/night?campaign={campaign}&day={day}"));
        let request = self.client.get(url).bearer_auth(&self.key).timeout(Duration::from_secs(10));
        let answer = request.send().await.ok()?;
        let known = answer.status().as_u16() == 200;
        serde_json::from_slice(&answer.bytes().await.ok()?).ok().filter(|_| known)
    }

    /// Waits until `due` users are in the seals of a night and none is open, and answers its sums.
    pub async fn closed(&self, campaign: &str, day: &str, due: u64) -> Value {
        until(&format!("{due} users due and none open"), MOST, async || {
            self.night(campaign, day).await.filter(|night| night["due"] == due && night["open"] == 0)
        })
        .await
    }

    /// Waits until no batch is in the queue or its ladder.
    pub async fn drained(&self) {
        until("the queue to be empty", MOST, async || {
            let (_, metrics) = self.get_open("/metrics").await;
            let mut batches = metrics.lines().filter(|l| l.starts_with("stepcast_queue_batches{"));
            batches.all(|l| l.ends_with(" 0") || l.contains("state=\"dead\"")).then_some(())
        })
        .await;
    }

    /// What it holds of the machine's memory now, in bytes.
    pub fn memory(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.child.id().expect("it runs"))).unwrap();
        let held = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        held.and_then(|kib| kib.trim().parse::<u64>().ok()).expect("a figure") << 10
    }

    /// Sends it a signal: "STOP", "CONT", "TERM".
    pub fn signal(&self, name: &str) {
        signal(name, self.child.id().expect("it runs").into());
    }

    /// Whether `/readyz` says that it can do all of its work; what it complains of where it cannot, or where no answer comes
    /// within some seconds.
    pub async fn readiness(&self) -> Result<(), String> {
        let asked = self.client.get(self.url("/readyz")).timeout(Duration::from_secs(10)).send().await;
        let answer = asked.map_err(|e| e.to_string())?;
        let status = answer.status().as_u16();
        let text = answer.text().await.map_err(|e| e.to_string())?;
        if status == 200 { Ok(()) } else { Err(text) }
    }

    /// Asks it to end by SIGTERM, and waits for that.
    pub async fn stop(mut self) -> ExitStatus {
        self.signal("TERM");
        let ended = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await;
        ended.unwrap_or_else(|_| panic!("still there 30 s after SIGTERM:\n{}", self.log())).unwrap()
    }

    /// Ends it by SIGKILL, and waits until it is gone.
    pub async fn kill(mut self) {
        self.child.start_kill().unwrap();
        self.child.wait().await.unwrap();
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    async fn ask(&self, request: RequestBuilder) -> (u16, Value) {
        let answer = request.bearer_auth(&self.key).send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}
