use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use chrono::TimeDelta;
use directory::{
    ApiKeys, Change, Directory, EmbeddedApiKeys, EmbeddedDirectory, KeyRing, NewUser, Scope, TokenKeys,
    made_key,
};
use domain::{Instant, Uid};
use ingest::{Edge, Freezer, Metrics, Parts, Settings, router};
use plumbing::{Clock, File};
use serde_json::{Value, json};
use step_store::{EmbeddedSteps, StepStore};
use tempfile::TempDir;
use tower::ServiceExt;

/// The interface with users 1 to 3,000: Tokyo, Kathmandu and Lima in turn. It is noon of 7 June 2026 in UTC.
pub(crate) struct Rig {
    pub(crate) router: Router,
    pub(crate) clock: Arc<Clock>,
    pub(crate) freezer: Freezer,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) steps: Arc<dyn StepStore>,
    pub(crate) keys: Arc<dyn ApiKeys>,
    /// A key of every scope but ops.
    pub(crate) key: String,
    tokens: Arc<TokenKeys>,
    _folder: TempDir,
}

/// Somebody in Tokyo, nine hours ahead.
pub(crate) const TOKYO: u64 = 1_001;
pub(crate) const NOON: &str = "2026-06-07T12:00:00Z";

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with(|_| ()).await
    }

    /// The same with other settings.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let directory: Arc<dyn Directory> = Arc::new(EmbeddedDirectory::open(Arc::clone(&file)).unwrap());
        let steps: Arc<dyn StepStore> = Arc::new(EmbeddedSteps::open(Arc::clone(&file)).unwrap());
        let keys: Arc<dyn ApiKeys> = Arc::new(EmbeddedApiKeys::new(file));
        let clock = Arc::new(Clock::system());
        clock.move_to(NOON.parse().unwrap());
        let users = (1..=3_000).map(|uid| Change::Put(user(uid))).collect();
        directory.apply(users, "2026-06-01T00:00:00Z".parse().unwrap()).await.unwrap();
        let mut tokens = TokenKeys::default();
        tokens.add("t", &[7; 32]).unwrap();
        let tokens = Arc::new(tokens);
        let mut settings = Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            key_items_per_second: 1_000_000.try_into().unwrap(),
            user_items_per_minute: 10_000.try_into().unwrap(),
            bodies_mib: 64.try_into().unwrap(),
        };
        change(&mut settings);
        let edge = Edge::new(Parts {
            directory: Arc::clone(&directory),
            steps: Arc::clone(&steps),
            keys: KeyRing::new(Arc::clone(&keys)),
            tokens: Arc::clone(&tokens),
            clock: Arc::clone(&clock),
            settings,
            metrics: Metrics::default(),
        });
        let freezer = Freezer::new(Arc::clone(&directory), Arc::clone(&steps));
        let scopes = [Scope::Reports, Scope::Directory, Scope::Boards];
        let key = made(&*keys, &scopes).await;
        Self { router: router(edge), clock, freezer, directory, steps, keys, key, tokens, _folder: folder }
    }

    /// Moves the clock, and freezes what is due then.
    pub(crate) async fn at(&self, at: &str) {
        self.clock.move_to(at.parse().unwrap());
        self.freezer.step(self.clock.now()).await.unwrap();
    }

    /// A user's token for so long.
    pub(crate) fn token(&self, user: &str, holds: TimeDelta) -> String {
        self.tokens.make(None, user, self.clock.now() + holds).unwrap()
    }

    /// A key of one scope.
    pub(crate) async fn key_for(&self, scope: Scope) -> String {
        made(&*self.keys, &[scope]).await
    }

    /// Sends a request, and answers its status, its body and its `Retry-After`.
    pub(crate) async fn send(&self, request: Request<Body>) -> (StatusCode, Value, Option<u64>) {
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let answer =
            tokio::time::timeout(Duration::from_secs(30), self.router.clone().oneshot(request)).await;
        let answer = answer.expect("an answer").unwrap();
        let status = answer.status();
        let after = answer.headers().get(header::RETRY_AFTER).map(|v| v.to_str().unwrap().parse().unwrap());
        let bytes = to_bytes(answer.into_body(), 64 << 20).await.unwrap();
        let value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if status.is_client_error() || status.is_server_error() {
            assert!(value["error"].is_string() && value["message"].is_string(), "{status}: {value}");
        }
        self.documented(&method, &path, status).await;
        (status, value, after)
    }

    /// Holds an answer to the description: to a method of a path that it has, it tells of the status.
    async fn documented(&self, method: &str, path: &str, status: StatusCode) {
        let request = Request::get("/openapi.json").body(Body::empty()).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let bytes = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        let told: Value = serde_json::from_slice(&bytes).unwrap();
        let fits = |template: &str| {
            let (wanted, given) = (template.split('/'), path.split('/'));
            wanted.clone().count() == given.clone().count()
                && wanted.zip(given).all(|(wanted, given)| wanted.starts_with('{') || wanted == given)
        };
        let paths = told["paths"].as_object().unwrap();
        let Some((template, methods)) = paths.iter().find(|(template, _)| fits(template)) else {
            return assert_eq!(status, StatusCode::NOT_FOUND, "{method} {path}");
        };
        let Some(one) = methods.get(method.to_lowercase()) else {
            return assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        };
        assert!(
            one["responses"][status.as_str()].is_object(),
            "{method} {template}: {status} is not told of"
        );
    }

    /// A request with a bearer; a body is JSON.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        bearer: &str,
        body: &str,
    ) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::AUTHORIZATION, format!("Bearer {bearer}"));
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let (status, value, _) = self.send(request.body(Body::from(body.to_owned())).unwrap()).await;
        (status, value)
    }

    /// Posts items by the key, and answers what came of each, in short: `stored 500`, `too_late`, `malformed at`.
    pub(crate) async fn post(&self, items: &[Value]) -> Vec<String> {
        self.post_as(&self.key, items).await
    }

    pub(crate) async fn post_as(&self, bearer: &str, items: &[Value]) -> Vec<String> {
        let (status, told) =
            self.ask("POST", "/v1/reports", bearer, &Value::from(items.to_vec()).to_string()).await;
        assert_eq!(status, StatusCode::OK, "{told}");
        let results = told["results"].as_array().unwrap();
        let count = |status: &str| results.iter().filter(|result| result["status"] == status).count();
        assert_eq!(told["stored"], count("stored"), "{told}");
        assert_eq!(told["repeats"], count("repeat"), "{told}");
        assert_eq!(told["refused"], count("refused"), "{told}");
        results.iter().map(short).collect()
    }

    /// The number of a user's day as it is read over HTTP; `None` where it is absent.
    pub(crate) async fn number(&self, uid: u64, day: &str) -> Option<u64> {
        let (status, told) =
            self.ask("GET", &format!("/v1/users/{uid}/steps?day={day}"), &self.key, "").await;
        assert_eq!(status, StatusCode::OK, "{told}");
        told["steps"].as_u64()
    }
}

/// An increment of the phone of somebody in Tokyo, walked at an hour of 7 June there.
pub(crate) fn walked(at: &str, steps: impl Into<Value>, id: &str) -> Value {
    json!({ "uid": TOKYO, "at": at, "steps": steps.into(), "source": "phone", "id": id })
}

pub(crate) fn total(source: &str, at: &str, total: impl Into<Value>) -> Value {
    json!({ "uid": TOKYO, "at": at, "total": total.into(), "source": source })
}

fn short(result: &Value) -> String {
    let text = |field: &str| result[field].as_str().unwrap_or_default().to_owned();
    match text("status").as_str() {
        "refused" => format!("{} {}", text("reason"), text("field")).trim().to_owned(),
        status => format!("{status} {}", result["steps"]),
    }
}

fn user(uid: u64) -> NewUser {
    let zone = ["America/Lima", "Asia/Kathmandu", "Asia/Tokyo"][usize::try_from(uid % 3).unwrap()];
    NewUser {
        uid: Uid(uid),
        zone: zone.parse().unwrap(),
        region: None,
        language: None,
        consent: Some(true),
        consent_at: Some(Instant::UNIX_EPOCH),
        devices: Some(Vec::new()),
        name: None,
    }
}

async fn made(keys: &dyn ApiKeys, scopes: &[Scope]) -> String {
    let (text, key) = made_key(scopes.iter().copied().collect(), "test", NOON.parse().unwrap()).unwrap();
    keys.add(key).await.unwrap();
    text
}
