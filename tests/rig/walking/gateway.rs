use std::time::{Duration, Instant};

use chrono::NaiveDate;
use reqwest::{Client, Response};
use serde_json::Value;

use super::{Answer, Item};

/// An app's own back end, which hands on what its phones report.
#[derive(Clone, Debug)]
pub struct Gateway {
    client: Client,
    url: String,
    key: String,
}

/// A batch that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turned {
    /// Answered with this status, and asked to come again after so long.
    Away(u16, Option<Duration>),
    /// Not answered.
    Lost(String),
}

/// The longest a batch is posted again and again.
const PATIENCE: Duration = Duration::from_secs(90);
/// Between two tries where nothing else is asked for.
const PAUSE: Duration = Duration::from_millis(50);

impl Gateway {
    /// One that posts to `http://HOST:PORT` with a key of scope `reports`.
    pub fn new(url: &str, key: &str) -> Self {
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        Self { client, url: url.to_owned(), key: key.to_owned() }
    }

    /// Posts a batch until it is answered, through refusals of the moment, restarts and lost answers. Ends the test when that
    /// takes too long, or on an answer that no sound batch should get.
    pub async fn post(&self, items: &[Item]) -> Vec<Answer> {
        let (body, start) = (body(items), Instant::now());
        loop {
            let pause = match self.send(&body, items.len()).await {
                Ok(answers) => return answers,
                Err(Turned::Away(status, after)) => {
                    assert!(matches!(status, 429 | 503), "a sound batch was answered {status}");
                    after.unwrap_or(PAUSE)
                }
                Err(Turned::Lost(_)) => PAUSE,
            };
            assert!(start.elapsed() < PATIENCE, "a batch was not taken for {PATIENCE:?}");
            tokio::time::sleep(pause).await;
        }
    }

    /// Posts a batch once.
    pub async fn post_once(&self, items: &[Item]) -> Result<Vec<Answer>, Turned> {
        self.send(&body(items), items.len()).await
    }

    /// The number of a user-day; `None` where there is no entry.
    pub async fn steps(&self, uid: u64, day: NaiveDate) -> Option<u32> {
        let url = format!("{}/v1/users/{uid}/steps?day={}", self.url, day.format("%Y%m%d"));
        let answer = self.client.get(url).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "the steps of {uid} on {day}");
        let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        answer["steps"].as_u64().map(|steps| u32::try_from(steps).unwrap())
    }

    async fn send(&self, body: &str, items: usize) -> Result<Vec<Answer>, Turned> {
        let request = self.client.post(format!("{}/v1/reports", self.url)).bearer_auth(&self.key);
        let request = request.header("content-type", "application/json").body(body.to_owned());
        let answer = request.send().await.map_err(lost)?;
        if answer.status().as_u16() != 200 {
            return Err(Turned::Away(answer.status().as_u16(), retry_after(&answer)));
        }
        let answer: Value = serde_json::from_slice(&answer.bytes().await.map_err(lost)?).unwrap();
        let answers: Vec<_> = answer["results"].as_array().unwrap().iter().map(read).collect();
        assert_eq!(answers.len(), items, "not every item has an answer");
        Ok(answers)
    }
}

fn body(items: &[Item]) -> String {
    let mut body = String::with_capacity(items.len() * 110);
    body.push('[');
    for (at, item) in items.iter().enumerate() {
        body.push_str(if at == 0 { "" } else { "," });
        item.write(&mut body);
    }
    body.push(']');
    body
}

fn read(result: &Value) -> Answer {
    match result["status"].as_str() {
        Some("stored") => Answer::Stored,
        Some("repeat") => Answer::Repeat,
        Some("refused") => Answer::Refused(result["reason"].as_str().expect("a reason").to_owned()),
        other => panic!("an item was answered {other:?}"),
    }
}

fn retry_after(answer: &Response) -> Option<Duration> {
    answer.headers().get("retry-after")?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

fn lost(error: reqwest::Error) -> Turned {
    Turned::Lost(error.to_string())
}
