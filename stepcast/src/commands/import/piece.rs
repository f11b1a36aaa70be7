use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::{Value, json};

use crate::{access::Access, endings::Ending, say::say};

/// Rows handed on at once.
const PIECE: usize = 2_000;
/// Bytes handed on at once; below the most bytes of a body by more than the longest row.
const PIECE_BYTES: usize = 4 << 20;
/// The most refused rows that are told one by one; all are counted.
const MOST_TOLD: usize = 20;

/// Gathers rows and posts them piece by piece.
pub(super) struct Pieces<'a> {
    access: &'a Access,
    path: &'static str,
    body: Vec<u8>,
    lines: Vec<u64>,
    counts: BTreeMap<String, u64>,
    refused: u64,
    told: Vec<Value>,
}

/// What came of an import.
pub(super) struct Told {
    /// Counts, the number of refused rows, and the first of them.
    pub(super) value: Value,
    refused: u64,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(access: &'a Access, path: &'static str) -> Self {
        Self {
            access,
            path,
            body: Vec::new(),
            lines: Vec::new(),
            counts: BTreeMap::new(),
            refused: 0,
            told: Vec::new(),
        }
    }

    /// Adds a row as a line of NDJSON; `line` is its place in the file.
    pub(super) async fn add(&mut self, line: u64, row: &str) -> anyhow::Result<()> {
        self.body.extend_from_slice(row.as_bytes());
        self.body.push(b'\n');
        self.lines.push(line);
        if self.lines.len() >= PIECE || self.body.len() >= PIECE_BYTES {
            self.post().await?;
        }
        Ok(())
    }

    /// Notes a row that could not be read.
    pub(super) fn refuse(&mut self, line: u64, field: &str, reason: &str) {
        self.refused += 1;
        if self.told.len() < MOST_TOLD {
            self.told.push(json!({ "line": line, "field": field, "reason": reason }));
        }
    }

    /// Posts what is left.
    pub(super) async fn end(mut self) -> anyhow::Result<Told> {
        self.post().await?;
        let value = json!({ "counts": self.counts, "refused": self.refused, "first_refused": self.told });
        Ok(Told { value, refused: self.refused })
    }

    async fn post(&mut self) -> anyhow::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Ok(()) };
        let answer = self.access.post(self.path, std::mem::take(&mut self.body)).await;
        let answer = answer.with_context(|| unconfirmed(*first, *last))?;
        for (name, count) in answer["counts"].as_object().into_iter().flatten() {
            *self.counts.entry(name.clone()).or_default() += count.as_u64().unwrap_or(0);
        }
        for fault in answer["refused"].as_array().into_iter().flatten() {
            let index = fault["index"].as_u64().and_then(|i| usize::try_from(i).ok());
            let line = index.and_then(|i| lines.get(i)).copied().unwrap_or(0);
            let text = |field: &str| fault[field].as_str().unwrap_or_default().to_owned();
            self.refuse(line, &text("field"), &text("reason"));
        }
        Ok(())
    }
}

/// How far a file is in that could not be imported to its end.
fn unconfirmed(first: u64, last: u64) -> String {
    format!(
        "line {first} is the first that was not confirmed: the rows before it are in, but for those refused; those from \
         line {first} to {last} may be in or not; those after are not"
    )
}

impl Told {
    pub(super) fn print(&self, json: bool) {
        if json {
            say!("{}", self.value);
            return;
        }
        for fault in self.value["first_refused"].as_array().into_iter().flatten() {
            let text = |field: &str| fault[field].as_str().unwrap_or_default().to_owned();
            eprintln!("line {}: {}: {}", fault["line"], text("field"), text("reason"));
        }
        if self.refused > MOST_TOLD as u64 {
            eprintln!("and {} more refused rows", self.refused - MOST_TOLD as u64);
        }
        let counts = self.value["counts"].as_object().into_iter().flatten();
        let counts: Vec<_> = counts.map(|(name, count)| format!("{count} {name}")).collect();
        say!(
            "{}, {} refused",
            if counts.is_empty() { "no rows".to_owned() } else { counts.join(", ") },
            self.refused
        );
    }

    /// A refused row makes the import a failed one, though all others are in.
    pub(super) fn ending(&self) -> Ending {
        if self.refused > 0 { Ending::Failed } else { Ending::Done }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::{Json, Router, http::StatusCode, routing::post};

    use super::*;

    /// Takes so many pieces and then none.
    fn taking(most: usize) -> Access {
        let taken = std::sync::Arc::new(AtomicUsize::new(0));
        let answer = async move || match taken.fetch_add(1, Ordering::SeqCst) < most {
            true => Ok(Json(json!({ "counts": { "added": PIECE } }))),
            false => Err((StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "error": "the stores are away" })))),
        };
        Access::Own(Router::new().route("/ops/v1/steps", post(answer)))
    }

    #[tokio::test]
    async fn an_import_that_fails_says_which_lines_are_in() {
        let access = taking(1);
        let mut pieces = Pieces::new(&access, "/ops/v1/steps");
        // the first line is the header
        let last = u64::try_from(PIECE).unwrap() + 12;
        for line in 2..=last {
            pieces.add(line, "{}").await.unwrap();
        }
        let error = format!("{:#}", pieces.end().await.err().unwrap());
        let first = format!("line {} is the first", PIECE + 2);
        assert!(error.contains(&first) && error.contains(&format!("to {last} ")), "{error}");
        assert!(error.contains("503") || error.contains("stores are away"), "{error}");
    }
}
