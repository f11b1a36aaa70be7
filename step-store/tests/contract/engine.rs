use std::sync::Arc;

use async_trait::async_trait;
use domain::{Day, Instant, Uid};
use step_store::{Amount, PARTS, Read, Report, ReportId, Reported, StepStore};

/// An engine with nothing in it.
#[async_trait]
pub(crate) trait Engine: Send + Sync {
    fn store(&self) -> Arc<dyn StepStore>;

    /// Another client of the same store, where the engine has such.
    fn other(&self) -> Arc<dyn StepStore>;

    /// Puts rubbish in the place of the page that a user's `Day` is in.
    async fn damage(&self, uid: Uid, day: Day);

    /// Ends the engine and starts it again on what it kept. The caller has dropped all it had of it.
    async fn restart(&mut self);

    /// Takes away what it kept, where it is not alone in its place.
    async fn end(&mut self) {}
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

/// 7 June.
pub(crate) fn today() -> Day {
    day("20260607")
}

/// An evening of 7 June.
pub(crate) fn now() -> Instant {
    "2026-06-07T18:00:00Z".parse().unwrap()
}

/// A report of a user's phone for 7 June, which freezes at five past midnight UTC.
pub(crate) fn report(uid: u64, amount: Amount) -> Report {
    let freezes = "2026-06-08T00:05:00Z".parse().unwrap();
    Report { uid: Uid(uid), day: today(), source: "phone".parse().unwrap(), amount, id: None, freezes }
}

pub(crate) fn total(uid: u64, total: u32) -> Report {
    report(uid, Amount::Total(total))
}

/// An increment with an id.
pub(crate) fn add(uid: u64, steps: u32, id: &str) -> Report {
    named(report(uid, Amount::Add(steps)), id)
}

pub(crate) fn named(report: Report, id: &str) -> Report {
    Report { id: Some(ReportId::of(&report.source, id).unwrap()), ..report }
}

pub(crate) fn of_source(report: Report, source: &str) -> Report {
    Report { source: source.parse().unwrap(), ..report }
}

/// The same for 8 June.
pub(crate) fn next_day(report: Report) -> Report {
    Report { day: day("20260608"), freezes: "2026-06-09T00:05:00Z".parse().unwrap(), ..report }
}

pub(crate) async fn give(store: &Arc<dyn StepStore>, reports: Vec<Report>) -> Vec<Reported> {
    store.report(reports, now()).await.unwrap()
}

pub(crate) async fn numbers(store: &Arc<dyn StepStore>, uids: &[u64], day: Day) -> Vec<u32> {
    let uids: Vec<_> = uids.iter().copied().map(Uid).collect();
    let steps = |read| match read {
        Read::Steps(steps) => steps,
        Read::Unreadable => panic!("a page cannot be read"),
    };
    store.read_many(&uids, day).await.unwrap().into_iter().map(steps).collect()
}

/// The number of a user's 7 June.
pub(crate) async fn number(store: &Arc<dyn StepStore>, uid: u64) -> u32 {
    numbers(store, &[uid], today()).await[0]
}

/// Every part.
pub(crate) fn parts() -> impl Iterator<Item = u32> {
    0..PARTS
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
            counting::absent_reads_0_and_midnight_is_another_key,
            counting::wide_numbers_come_back_exact_and_absurd_ones_are_refused_whole,
            counting::one_call_is_taken_and_answered_in_order,
            counting::a_call_that_is_too_long_stores_nothing,
            counting::many_users_are_read_in_their_order,
            counting::nothing_asked_is_nothing_answered,
            sources::the_largest_source_is_the_number,
            sources::a_source_does_not_mix_increments_and_totals,
            sources::eight_sources_and_no_more,
            sources::a_raise_of_more_than_20000_is_marked,
            repeats::a_known_id_is_a_repeat_whatever_it_says,
            repeats::an_id_is_its_users_and_its_sources_own,
            repeats::what_is_refused_leaves_its_id_free,
            repeats::a_total_that_does_not_rise_is_a_repeat,
            repeats::one_id_under_two_days_at_once_is_stored_once,
            repeats::a_user_has_16384_ids_in_four_days,
            freezing::a_frozen_day_takes_no_more,
            freezing::the_watermark_only_rises,
            freezing::what_is_stored_beside_a_freeze_came_before_it,
            erasing::a_user_who_is_erased_is_gone,
            erasing::reports_after_an_erasure_are_refused,
            feed::each_change_of_a_number_is_posted_once,
            feed::what_was_posted_is_forgotten,
            feed::a_full_outbox_drops_its_oldest,
            feed::the_postings_make_up_the_totals,
            feed::totals_come_in_bounded_pieces,
            damage::a_damaged_page_refuses_its_own_users_alone,
            racing::calls_at_once_lose_nothing,
            racing::what_was_answered_as_stored_is_what_is_there,
            keeping::what_was_answered_is_there_after_a_restart,
            model::it_agrees_with_a_plain_map,
        }
    };
}
pub(crate) use all_checks;
