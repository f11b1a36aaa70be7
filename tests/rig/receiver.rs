mod http;
mod signature;

use std::{
    collections::{BTreeMap, HashMap},
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;
pub use signature::SECRET;
use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// Takes pushes as an app's own push service would, on a free port. It notes what came and answers as it is told, and
/// knows nothing of the ledger.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    notes: Arc<Notes>,
    accepting: JoinHandle<()>,
}

/// A push that came.
#[derive(Clone, Debug)]
pub struct Reception {
    /// `Idempotency-Key`; the id in `webhook-id` and in the body is the same.
    pub identity: String,
    /// The user.
    pub uid: u64,
    /// The device.
    pub device: String,
    /// The number in it.
    pub steps: u64,
    /// The path it was posted to.
    pub path: String,
    /// How often this identity has come for this device, with this time.
    pub nth: usize,
    /// When.
    pub at: Instant,
    /// Whether the device shows it: it was answered with success, or taken and then not answered.
    pub taken: bool,
}

/// What a push is answered.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    status: Option<u16>,
    retry_after: Option<u64>,
    wait: Duration,
    taken: bool,
}

#[derive(Debug)]
struct Notes {
    hold: watch::Sender<bool>,
    pace: AtomicU64,
    receptions: Mutex<Vec<Reception>>,
    counts: Mutex<HashMap<(String, String), usize>>,
    faults: Mutex<Vec<String>>,
}

impl Answer {
    /// This status.
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), retry_after: None, wait: Duration::ZERO, taken: status < 300 }
    }

    /// None: the connection is dropped.
    pub fn reset() -> Self {
        Self { status: None, retry_after: None, wait: Duration::ZERO, taken: true }
    }

    /// The same with `Retry-After`, in seconds.
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The same after so long.
    pub fn late(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// The same, and the device shows it although the answer says otherwise, or not although it says so.
    pub fn taken(self, taken: bool) -> Self {
        Self { taken, ..self }
    }
}

impl Receiver {
    /// Listens from now on; `judge` says what each push is answered.
    pub async fn start(judge: impl Fn(&Reception) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let notes = Arc::new(Notes {
            hold: watch::channel(false).0,
            pace: AtomicU64::new(0),
            receptions: Mutex::default(),
            counts: Mutex::default(),
            faults: Mutex::default(),
        });
        let judge: Arc<Judge> = Arc::new(judge);
        let held = Arc::clone(&notes);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (notes, judge) = (Arc::clone(&held), Arc::clone(&judge));
                // a sender that is killed takes its connections with it: their errors are no news
                tokio::spawn(async move { serve(stream, &notes, &*judge).await });
            }
        });
        Self { address, notes, accepting }
    }

    /// One that takes everything.
    pub async fn willing() -> Self {
        Self::start(|_| Answer::status(200)).await
    }

    /// The settings of a channel that posts to this receiver, at this path.
    pub fn channel(&self, name: &str, path: &str) -> String {
        let address = self.address;
        format!(
            "[channels.{name}]\nkind = \"webhook\"\nurl = \"http://{address}/{path}\"\nsecret = \"{SECRET}\"\n\
             allow_private = true\ntimeout = \"3s\"\n"
        )
    }

    /// Where this path of it is: `http://127.0.0.1:PORT/path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Everything that came so far, in its order. Ends the test where something was no proper push.
    pub fn receptions(&self) -> Vec<Reception> {
        let faults = lock(&self.notes.faults);
        assert!(faults.is_empty(), "{} bad pushes, the first: {}", faults.len(), faults[0]);
        lock(&self.notes.receptions).clone()
    }

    /// How many came so far.
    pub fn count(&self) -> usize {
        lock(&self.notes.receptions).len()
    }

    /// How often each (uid, device) was pushed to.
    pub fn by_device(&self) -> BTreeMap<(u64, String), usize> {
        let mut counts = BTreeMap::new();
        for reception in self.receptions() {
            *counts.entry((reception.uid, reception.device)).or_default() += 1;
        }
        counts
    }

    /// What a provider would say that it passed on: one line of `{"identity", "at"}` for each push that was taken.
    pub fn receipts(&self) -> String {
        let mut lines = String::new();
        let (now, clock) = (Instant::now(), chrono::Utc::now());
        for reception in self.receptions().iter().filter(|r| r.taken) {
            let at = clock - (now - reception.at);
            let at = at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
            lines += &format!("{{\"identity\":\"{}\",\"at\":\"{at}\"}}\n", reception.identity);
        }
        lines
    }

    /// Answers nobody from now on, until [`Receiver::release`]. What comes meanwhile is noted.
    pub fn hold(&self) {
        self.notes.hold.send_replace(true);
    }

    /// Answers again, those that were held too.
    pub fn release(&self) {
        self.notes.hold.send_replace(false);
    }

    /// Answers everything so much later from now on, beside what the judge says.
    pub fn pace(&self, wait: Duration) {
        self.notes.pace.store(u64::try_from(wait.as_micros()).unwrap(), Ordering::Relaxed);
    }

    /// What came for one user.
    pub fn of(&self, uid: u64) -> Vec<Reception> {
        self.receptions().into_iter().filter(|r| r.uid == uid).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

type Judge = dyn Fn(&Reception) -> Answer + Send + Sync;

async fn serve(stream: TcpStream, notes: &Notes, judge: &Judge) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = http::read(&mut stream).await? {
        let answer = match note(&request, notes, judge) {
            Ok(answer) => answer,
            Err(fault) => {
                lock(&notes.faults).push(fault);
                return Ok(());
            }
        };
        let wait = answer.wait + Duration::from_micros(notes.pace.load(Ordering::Relaxed));
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // the sender of the value lives as long as the notes
        let _ = notes.hold.subscribe().wait_for(|held| !held).await;
        let Some(status) = answer.status else { return Ok(()) };
        let after = answer.retry_after.map_or_else(String::new, |s| format!("retry-after: {s}\r\n"));
        let head = format!("HTTP/1.1 {status} as told\r\n{after}content-length: 0\r\n\r\n");
        stream.get_mut().write_all(head.as_bytes()).await?;
    }
    Ok(())
}

/// Checks a push against what is documented of it, judges and notes it.
fn note(request: &http::Request, notes: &Notes, judge: &Judge) -> Result<Answer, String> {
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    let body: Value =
        serde_json::from_slice(&request.body).map_err(|e| format!("no JSON, {e}: {request:?}"))?;
    let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
    let identity = header("idempotency-key");
    let whole = format!("{}.{}.{}", text("campaign"), text("day"), text("uid"));
    let further = identity.strip_prefix(&whole).and_then(|rest| rest.strip_prefix('.'));
    let known = identity == whole || further.is_some_and(|mark| mark.len() == 16);
    if !known || identity != text("id") || identity != header("webhook-id") {
        return Err(format!("identities differ: {request:?}"));
    }
    if !signature::good(&identity, &header("webhook-timestamp"), &header("webhook-signature"), &request.body)
    {
        return Err(format!("a bad signature: {request:?}"));
    }
    let uid = text("uid").parse().map_err(|e| format!("uid, {e}: {request:?}"))?;
    let steps = body["steps"].as_u64().ok_or_else(|| format!("steps: {request:?}"))?;
    let device = text("device");
    let nth = {
        let mut counts = lock(&notes.counts);
        let nth = counts.entry((identity.clone(), device.clone())).or_default();
        *nth += 1;
        *nth
    };
    let path = request.path.clone();
    let mut reception =
        Reception { identity, uid, device, steps, path, nth, at: Instant::now(), taken: false };
    let answer = judge(&reception);
    reception.taken = answer.taken;
    lock(&notes.receptions).push(reception);
    Ok(answer)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
