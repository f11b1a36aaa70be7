use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls that a connection has room for before another one is used.
const FULL: usize = 16;

/// How many calls wait for answers on each of a few connections.
pub(super) struct Seats(Vec<AtomicUsize>);

/// A call's place on a connection, until it is dropped.
pub(super) struct Seat<'a> {
    /// Which connection.
    pub(super) line: usize,
    calls: &'a AtomicUsize,
}

impl Seats {
    /// For so many connections, at least one.
    pub(super) fn new(lines: usize) -> Self {
        Self((0..lines.max(1)).map(|_| AtomicUsize::new(0)).collect())
    }

    /// A place on the first connection that has room, else on the one with the fewest calls. Calls that come at one time may
    /// choose the same one and pass the bound by a few.
    pub(super) fn take(&self) -> Seat<'_> {
        let calls = |line: usize| self.0[line].load(Ordering::Relaxed);
        let lines = 0..self.0.len();
        let roomy = lines.clone().find(|line| calls(*line) < FULL);
        let line = roomy.or_else(|| lines.min_by_key(|line| calls(*line))).unwrap_or_default();
        let calls = &self.0[line];
        calls.fetch_add(1, Ordering::Relaxed);
        Seat { line, calls }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_connections_fill_up_before_the_others_and_then_all_alike() {
        let seats = Seats::new(3);
        let mut taken: Vec<_> = (0..3 * FULL).map(|_| seats.take()).collect();
        assert!(taken.iter().enumerate().all(|(nth, seat)| seat.line == nth / FULL));
        taken.extend((0..3).map(|_| seats.take()));
        let more: Vec<_> = taken[3 * FULL..].iter().map(|seat| seat.line).collect();
        assert_eq!(more, [0, 1, 2]);
        taken.clear();
        assert_eq!(seats.take().line, 0);
    }
}
