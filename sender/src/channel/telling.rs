use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Faults are told together at most so often: a bad night is one line now and then, not one a user.
const EVERY: Duration = Duration::from_secs(10);

/// Tells in the log what a gateway answered to pushes it did not accept.
#[derive(Debug)]
pub(super) struct Telling {
    host: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    told: Option<Instant>,
    since: u64,
}

impl Telling {
    pub(super) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), state: Mutex::default() }
    }

    /// Notes a push that was not accepted, and tells of it and those since the last telling when it is time.
    pub(super) fn tell(&self, answer: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.since += 1;
        if state.told.is_none_or(|at| at.elapsed() >= EVERY) {
            tracing::warn!(host = self.host, last = answer, pushes = state.since, "pushes were not accepted");
            *state = State { told: Some(Instant::now()), since: 0 };
        }
    }
}
