use std::{
    collections::HashSet,
    fs,
    io::Read,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use anyhow::Context;
use axum::{
    extract::{Request, State},
    handler::Handler,
    http::{HeaderValue, Method, StatusCode},
    response::{IntoResponse, Response},
    serve::ListenerExt,
};
use xxhash_rust::xxh3::xxh3_64;

use super::{Pushed, Received, SAMPLE, secure::Secure};
use crate::certificate::{CERTIFICATE, KEY};
use tokio::net::TcpListener;

/// More than any push has.
const MOST_BODY: usize = 1 << 20;
/// Pushes kept as a sample.
const MOST_KEPT: usize = 1_000;

/// Takes pushes on a free port, whose address goes to the file `noted`, until the standard input ends. `POST` is a push,
/// `GET` tells what came, or the first of them, `DELETE` begins again.
///
/// Where `certificate.pem` and `key.pem` lie beside that file, the server speaks TLS; it takes HTTP/1.1 and HTTP/2.
pub(crate) async fn serve(noted: &Path) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let [certificate, key] = [CERTIFICATE, KEY].map(|name| noted.with_file_name(name));
    let service = answer.with_state(Arc::new(Notes::default())).into_make_service();
    let secure = certificate.exists();
    let write = || fs::write(noted, format!("{address}\n")).with_context(|| noted.display().to_string());
    if secure {
        let listener = Secure::new(listener, &certificate, &key)?;
        write()?;
        until_end(axum::serve(listener, service).into_future()).await
    } else {
        let listener = listener.tap_io(|stream| {
            // without it an answer waits for the client's next packet; one that fails is seen by its reader
            let _ = stream.set_nodelay(true);
        });
        write()?;
        until_end(axum::serve(listener, service).into_future()).await
    }
}

/// Serves until the standard input ends.
async fn until_end(serving: impl Future<Output = std::io::Result<()>>) -> anyhow::Result<()> {
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = ended.send(());
    });
    tokio::select! {
        served = serving => Ok(served?),
        _ = end => Ok(()),
    }
}

#[derive(Default)]
struct Notes(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    pushes: u64,
    identities: HashSet<u64>,
    times: Option<(Instant, Instant)>,
    sample: Vec<Pushed>,
}

async fn answer(State(notes): State<Arc<Notes>>, request: Request) -> Response {
    match *request.method() {
        Method::POST => push(&notes, request).await.into_response(),
        // figures and texts: nothing of it can fail to be written
        Method::GET if request.uri().path().ends_with(SAMPLE) => {
            serde_json::to_string(&notes.lock().sample).unwrap_or_default().into_response()
        }
        Method::GET => serde_json::to_string(&notes.lock().received()).unwrap_or_default().into_response(),
        Method::DELETE => {
            *notes.lock() = Noted::default();
            StatusCode::OK.into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

async fn push(notes: &Notes, request: Request) -> StatusCode {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MOST_BODY).await.unwrap_or_default();
    let header = |name| parts.headers.get(name).map_or(&[][..], HeaderValue::as_bytes);
    let identity = header("idempotency-key");
    if identity.is_empty() || body.is_empty() {
        return StatusCode::BAD_REQUEST;
    }
    let mut noted = notes.lock();
    noted.push(xxh3_64(identity), Instant::now());
    if noted.sample.len() < MOST_KEPT {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (identity, signature) = (text(identity), text(header("webhook-signature")));
        noted.sample.push(Pushed { identity, signature, body: text(&body) });
    }
    StatusCode::OK
}

impl Notes {
    fn lock(&self) -> std::sync::MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Noted {
    fn push(&mut self, identity: u64, at: Instant) {
        self.pushes += 1;
        self.identities.insert(identity);
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first, last.max(at)));
    }

    fn received(&self) -> Received {
        let different = u64::try_from(self.identities.len()).unwrap_or(u64::MAX);
        let lasted = self.times.map(|(first, last)| last.saturating_duration_since(first));
        Received { pushes: self.pushes, different, seconds: lasted.unwrap_or_default().as_secs_f64() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_comes_twice_is_one_identity() {
        let (mut noted, begun) = (Noted::default(), Instant::now());
        noted.push(7, begun);
        noted.push(8, begun + Duration::from_secs(2));
        noted.push(7, begun + Duration::from_secs(1));
        assert_eq!(noted.received(), Received { pushes: 3, different: 2, seconds: 2.0 });
        assert_eq!((noted.received().rate(), Noted::default().received()), (1.0, Received::default()));
    }
}
