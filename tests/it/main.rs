//! The program as its users meet it: the real binary on a data folder of its own, and a receiver for its pushes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of this is tests, their helpers included"
)]

mod bad_days;
mod compose;
mod configuration;
mod copy;
mod day;
mod demo;
mod failures;
mod fresh;
mod imports;
mod kill;
mod night;
mod one_shot;
mod openapi;
mod operator;
mod rubbish;
mod stopping;
mod zones;

/// The `Day` of the nights here. In the zones nine hours ahead of UTC its 22:00 is [`FIRES`].
const DAY: &str = "20260607";
/// When it is 22:00 in Tokyo, Seoul and Palau on [`DAY`].
const FIRES: &str = "2026-06-07T13:00:00Z";
/// Long enough before that to do something first, and after the seal is written.
const BEFORE: &str = "2026-06-07T12:55:00Z";

/// Settings for quick nights: a campaign over `channels`, retries within a second, small chunks.
fn quick(channels: &str, window: u32) -> String {
    format!(
        "[scheduler]\nlease = \"1s\"\n\
         [sender]\nchunk = 20\nbatches_at_once = 2\nattempts = 3\nlease = \"10s\"\nladder = [\"100ms\", \"500ms\", \"2s\"]\n\
         backoff = \"200ms\"\nlongest_backoff = \"1s\"\nquota_wait = \"1s\"\n\
         [campaigns.nightly]\nwindow = {window}\nchannels = {channels}\n"
    )
}
