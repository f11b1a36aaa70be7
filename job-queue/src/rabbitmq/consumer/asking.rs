use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use crate::StoreError;

/// How long no delivery comes before the broker is asked whether there is one.
const QUIET: Duration = Duration::from_secs(5);

/// What the broker is asked: how many messages are ready.
pub(super) type Question = BoxFuture<'static, Result<u64, StoreError>>;

/// Asks the broker for its messages while no delivery comes. Whoever waits may go and come back as often as it likes: the
/// time runs on, and so does a question on its way.
pub(super) struct Asking {
    at: Instant,
    /// On its way; one at a time.
    question: Option<Question>,
    /// Times in a row that the broker had messages and delivered none.
    passed_over: u8,
}

impl Asking {
    /// Asks first when it was quiet from now on.
    pub(super) fn new() -> Self {
        Self { at: Instant::now() + QUIET, question: None, passed_over: 0 }
    }

    /// Notes a delivery.
    pub(super) fn delivered(&mut self) {
        self.at = Instant::now() + QUIET;
        self.passed_over = 0;
    }

    /// Waits until it has been quiet for long enough, asks, and answers how many messages are ready.
    pub(super) async fn answer(&mut self, ask: impl Fn() -> Question) -> Result<u64, StoreError> {
        loop {
            let Some(question) = &mut self.question else {
                sleep_until(self.at).await;
                self.question = Some(ask());
                continue;
            };
            let answer = question.await;
            self.question = None;
            self.at = Instant::now() + QUIET;
            return answer;
        }
    }

    /// Whether the consumer is forgotten, now that `ready` messages wait and it works on none if it is `idle`: the broker
    /// has passed it over at two questions in a row.
    pub(super) fn forgotten(&mut self, ready: u64, idle: bool) -> bool {
        self.passed_over = if ready > 0 && idle { self.passed_over.saturating_add(1) } else { 0 };
        self.passed_over > 1
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::FutureExt;
    use tokio::time::{sleep, timeout};

    use super::*;

    /// What a sender waits before it looks whether its channel may go on.
    const TICK: Duration = Duration::from_millis(200);

    #[tokio::test(start_paused = true)]
    async fn a_question_outlasts_whoever_waits_for_it() {
        let (mut asking, asked) = (Asking::new(), AtomicU32::new(0));
        let ask = || {
            asked.fetch_add(1, Ordering::Relaxed);
            // slower than anybody who asks is patient
            sleep(TICK * 4).map(|()| Ok(7)).boxed()
        };
        for round in 1..=2 {
            let begun = Instant::now();
            let answer = loop {
                if let Ok(answer) = timeout(TICK, asking.answer(ask)).await {
                    break answer;
                }
                assert!(begun.elapsed() < QUIET * 2, "the question never came to its answer");
            };
            assert_eq!((answer.unwrap(), asked.load(Ordering::Relaxed)), (7, round));
            assert!(begun.elapsed() >= QUIET);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_delivery_puts_the_question_off() {
        let mut asking = Asking::new();
        let ask = || std::future::ready(Ok(0)).boxed();
        for _ in 0..5 {
            assert!(timeout(QUIET - TICK, asking.answer(ask)).await.is_err());
            asking.delivered();
        }
        assert_eq!(asking.answer(ask).await.unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_consumer_is_forgotten_at_the_second_question_in_a_row() {
        let mut asking = Asking::new();
        for (ready, idle, forgotten) in [
            (3, true, false),
            (3, false, false),
            (3, true, false),
            (0, true, false),
            (1, true, false),
            (1, true, true),
        ] {
            assert_eq!(asking.forgotten(ready, idle), forgotten, "{ready} {idle}");
        }
        asking.delivered();
        assert!(!asking.forgotten(1, true), "it was given something in between");
    }
}
