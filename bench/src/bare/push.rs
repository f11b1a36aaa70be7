use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use reqwest::{Client, ClientBuilder, header::CONTENT_TYPE, redirect::Policy};

use crate::receiver::{Receiver, trusting};

/// A push as the program's webhook posts it, made beforehand.
pub(crate) struct Prepared {
    /// `Idempotency-Key` and `webhook-id`.
    pub(crate) identity: String,
    /// `webhook-signature`.
    pub(crate) signature: String,
    /// The payload.
    pub(crate) body: Vec<u8>,
}

/// Posts all of them, `in_flight` at once, with a client that is set up as the program's; how long it took.
pub(crate) async fn push(
    receiver: &Receiver,
    in_flight: usize,
    pushes: Vec<Prepared>,
) -> anyhow::Result<Duration> {
    let client = trusting(client(), receiver.certificate())?.build()?;
    let url = reqwest::Url::parse(receiver.url())?;
    let (pushes, next) = (Arc::new(pushes), Arc::new(AtomicUsize::new(0)));
    let begun = Instant::now();
    let posting = (0..in_flight).map(|_| {
        let (client, url, pushes, next) =
            (client.clone(), url.clone(), Arc::clone(&pushes), Arc::clone(&next));
        tokio::spawn(async move {
            while let Some(push) = pushes.get(next.fetch_add(1, Ordering::Relaxed)) {
                post(&client, &url, push).await?;
            }
            anyhow::Ok(())
        })
    });
    for task in posting.collect::<Vec<_>>() {
        task.await.context("a loop ended")??;
    }
    Ok(begun.elapsed())
}

/// As the program's webhook has it, down to the header that names the client and the pings of a connection. The library's own
/// repeats of refused streams are left on, as anybody's bare loop has them; the webhook has repeats of its own.
fn client() -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("stepcast/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .timeout(Duration::from_secs(15))
        .connect_timeout(Duration::from_secs(5))
        .pool_max_idle_per_host(512)
        .pool_idle_timeout(Duration::from_secs(20))
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(5))
}

async fn post(client: &Client, url: &reqwest::Url, push: &Prepared) -> anyhow::Result<()> {
    let request = client
        .post(url.clone())
        .header(CONTENT_TYPE, "application/json")
        .header("idempotency-key", &push.identity)
        .header("webhook-id", &push.identity)
        .header("webhook-timestamp", 1_780_862_400)
        .header("webhook-signature", &push.signature);
    // the copy is what the library takes; one without would be another library
    let answer = request.body(push.body.clone()).send().await?;
    ensure!(answer.status().is_success(), "the receiver answered {}", answer.status());
    answer.bytes().await?;
    Ok(())
}
