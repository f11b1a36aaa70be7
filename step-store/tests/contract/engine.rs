use std::sync::Arc;

use async_trait::async_trait;
use domain::{Day, Uid};
use step_store::{Add, StepStore};

/// An engine with nothing in it.
#[async_trait]
pub(crate) trait Engine: Send + Sync {
    fn store(&self) -> Arc<dyn StepStore>;

    /// Ends the engine and starts it again on what it kept. The caller has dropped all it had of it.
    async fn restart(&mut self);

    /// Takes away what it kept, where it is not alone in its place.
    async fn end(&mut self) {}
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

/// Steps to add to a user's 7 June.
pub(crate) fn add(uid: u64, steps: u32) -> Add {
    Add { uid: Uid(uid), day: day("20260607"), steps }
}

/// Makes each check a test, on an engine of its own that `$start` makes, with an attribute.
macro_rules! checks {
    ($start:expr, #[$attribute:meta], $($module:ident :: $name:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[$attribute]
            async fn $name() {
                let mut engine = $start.await;
                crate::$module::$name(&mut engine).await;
                crate::engine::Engine::end(&mut engine).await;
            }
        )*
    };
}
pub(crate) use checks;

/// Makes all checks tests.
macro_rules! all_checks {
    ($start:expr) => {
        crate::engine::all_checks!($start, #[cfg(test)]);
    };
    ($start:expr, #[$attribute:meta]) => {
        crate::engine::checks! {
            $start, #[$attribute],
            adding::absent_reads_0_and_midnight_is_another_key,
            adding::wide_numbers_come_back_exact_and_absurd_ones_are_refused_whole,
            adding::one_call_adds_in_order_and_answers_in_order,
            adding::a_call_that_is_too_long_stores_nothing,
            adding::calls_at_once_lose_nothing,
            adding::many_users_are_read_in_their_order,
            adding::nothing_asked_is_nothing_answered,
            keeping::what_was_answered_is_there_after_a_restart,
            model::it_agrees_with_a_plain_map,
        }
    };
}
pub(crate) use all_checks;
