//! The day of the demo: phones and watches report over HTTP while the clock is stepped from the first midnight to the last.

mod recount;

use std::{fmt::Write as _, net::SocketAddr, sync::Arc};

use anyhow::{Context, ensure};
use axum::http::StatusCode;
use directory::{Scope, made_key};
use domain::{Day, Instant};
use futures_util::{StreamExt, TryStreamExt, stream};
use ingest::Freezer;
use plumbing::{Clock, http};
use sender::Parts;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(super) use self::recount::Counts;
use self::recount::{Answer, Recount};
use super::{
    day::{Report, Source, Walked, Waves},
    progress::Progress,
};
use crate::program::Program;

/// Items of a batch, and batches under way at once.
const BATCH: usize = 500;
const AT_ONCE: usize = 4;

/// Reports that are still to come, and what came of those before.
pub(super) struct Walk {
    waves: Waves,
    client: reqwest::Client,
    url: String,
    key: String,
    clock: Arc<Clock>,
    freezer: Arc<Freezer>,
    recount: Recount,
    /// Ends the server with it.
    _stop: DropGuard,
}

impl Walk {
    /// Serves the program's own edge on a free port, with a key for the reports.
    pub(super) async fn begin(program: &Program, waves: Waves) -> anyhow::Result<Self> {
        let scopes = [Scope::Reports].into_iter().collect();
        let (key, kept) = made_key(scopes, "demo", program.clock.now())?;
        program.keys.add(kept).await?;
        let listener =
            TcpListener::bind(program.config.ingest.listen).await.context("a port for the reports")?;
        let address: SocketAddr = listener.local_addr()?;
        let stop = CancellationToken::new();
        tokio::spawn(http::serve(listener, ingest::router(program.edge()), stop.clone(), ingest::LISTENING));
        let freezer = program.freezer();
        Ok(Self {
            waves,
            client: reqwest::Client::builder().no_proxy().build()?,
            url: format!("http://{address}/v1/reports"),
            key,
            clock: Arc::clone(&program.clock),
            freezer,
            recount: Recount::default(),
            _stop: stop.drop_guard(),
        })
    }

    /// Steps the clock through what is reported before `until`, never back.
    pub(super) async fn until(&mut self, until: Instant, progress: &Progress) -> anyhow::Result<()> {
        while let Some(wave) = self.waves.first_entry().filter(|wave| *wave.key() < until) {
            let (at, reports) = wave.remove_entry();
            if self.clock.now() < at {
                self.clock.move_to(at);
            }
            self.freezer.step(self.clock.now()).await?;
            self.post(&reports).await?;
            progress.walking(at, self.recount.counts().reports);
        }
        Ok(())
    }

    /// The rest of the day, in every zone.
    pub(super) async fn rest(&mut self, progress: &Progress) -> anyhow::Result<()> {
        self.until(Instant::MAX_UTC, progress).await
    }

    /// What came of all reports, and how many users' numbers are not those of a plain recount.
    pub(super) async fn end(self, parts: &Parts, day: Day) -> anyhow::Result<Counts> {
        self.recount.end(parts, day).await
    }

    async fn post(&mut self, reports: &[Report]) -> anyhow::Result<()> {
        // a batch that comes before another must be answered before it, or a report sent again would overtake the first
        let this = &*self;
        let answers: Vec<Vec<Answer>> = stream::iter(reports.chunks(BATCH))
            .map(|batch| this.batch(batch))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        for (report, answer) in reports.iter().zip(answers.into_iter().flatten()) {
            self.recount.count(report, answer);
        }
        Ok(())
    }

    async fn batch(&self, batch: &[Report]) -> anyhow::Result<Vec<Answer>> {
        let request = self.client.post(&self.url).bearer_auth(&self.key);
        let request = request.header("content-type", "application/json").body(body(batch)?);
        let answer = request.send().await.context("the reports of the demo")?;
        ensure!(
            answer.status() == StatusCode::OK,
            "the reports of the demo were answered {}",
            answer.status()
        );
        let told: serde_json::Value = serde_json::from_slice(&answer.bytes().await?)?;
        let results = told["results"].as_array().context("there are no results")?;
        ensure!(results.len() == batch.len(), "not every report of the demo has an answer");
        results.iter().map(|result| Answer::of(&result["status"])).collect()
    }
}

fn body(batch: &[Report]) -> anyhow::Result<String> {
    let mut text = String::with_capacity(batch.len() * 110);
    for (place, report) in batch.iter().enumerate() {
        text.push(if place == 0 { '[' } else { ',' });
        let Report { uid, at, source, walked, number } = report;
        let source = match source {
            Source::Phone => "phone",
            Source::Watch => "watch",
        };
        let (kind, steps) = match walked {
            Walked::Steps(steps) => ("steps", steps),
            Walked::Total(total) => ("total", total),
        };
        let at = at.format("%Y-%m-%dT%H:%M:%SZ");
        let id = format_args!("{source}-{number}");
        write!(text, r#"{{"uid":{uid},"at":"{at}","{kind}":{steps},"source":"{source}","id":"{id}"}}"#)?;
    }
    text.push(']');
    Ok(text)
}
