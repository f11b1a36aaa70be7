use std::time::{Duration, Instant};

/// The longest a test waits for something that should come soon; far more than it takes on a busy machine.
pub const MOST: Duration = Duration::from_secs(90);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(25);

/// Looks again and again until `look` finds something, and answers that. Ends the test when it takes longer than `most`.
pub async fn until<T>(what: &str, most: Duration, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    let mut pause = tokio::time::interval(PAUSE);
    loop {
        pause.tick().await;
        if let Some(found) = look().await {
            return found;
        }
        assert!(start.elapsed() < most, "waited {most:?} in vain for this: {what}");
    }
}
