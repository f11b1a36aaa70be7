//! What was logged in this thread, to count what is told once.

use std::sync::{Arc, Mutex};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};

/// The log of this thread while it is held.
pub(crate) struct Log {
    lines: Lines,
    _guard: DefaultGuard,
}

type Lines = Arc<Mutex<Vec<String>>>;

impl Log {
    pub(crate) fn start() -> Self {
        let lines = Lines::default();
        let guard = tracing::subscriber::set_default(Kept(Arc::clone(&lines)));
        Self { lines, _guard: guard }
    }

    /// How often something was told.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.contains(what)).count()
    }
}

struct Kept(Lines);

impl Subscriber for Kept {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{field}={value:?} "));
    }
}
