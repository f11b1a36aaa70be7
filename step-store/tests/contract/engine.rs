use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use domain::{Day, Instant, Uid, Zone};
use step_store::{Amount, Changed, Read, Report, ReportId, Reported, Source, StepStore};

/// An engine with nothing in it.
#[async_trait]
pub(crate) trait Engine: Send + Sync {
    fn store(&self) -> Arc<dyn StepStore>;

    /// Ends the engine and starts it again on what it kept. The caller has dropped all it had of it.
    async fn restart(&mut self);

    /// Puts bytes in the place of the page that a user is in.
    async fn plant_page(&self, uid: Uid, day: Day, bytes: &[u8]);

    /// Takes away what it kept, where it is not alone in its place.
    async fn end(&mut self) {}
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

pub(crate) fn seventh() -> Day {
    day("20260607")
}

pub(crate) fn noon() -> Instant {
    "2026-06-07T12:00:00Z".parse().unwrap()
}

/// When a `Day` freezes in UTC.
pub(crate) fn freezes(day: Day) -> Instant {
    "UTC".parse::<Zone>().unwrap().edges(day).unwrap().freezes
}

/// A report of the phone for a user's 7 June.
pub(crate) fn report(uid: u64, amount: Amount, id: Option<u64>) -> Report {
    of_source("phone", uid, seventh(), amount, id)
}

pub(crate) fn of_source(source: &str, uid: u64, day: Day, amount: Amount, id: Option<u64>) -> Report {
    let source: Source = source.parse().unwrap();
    Report { uid: Uid(uid), day, source, amount, id: id.map(ReportId), freezes: freezes(day) }
}

/// Reports at noon of the 7th.
pub(crate) async fn told(store: &dyn StepStore, reports: Vec<Report>) -> Vec<Reported> {
    store.report(reports, noon()).await.unwrap()
}

/// The number of a user's 7 June.
pub(crate) async fn number(store: &dyn StepStore, uid: u64) -> u32 {
    match store.read_many(&[Uid(uid)], seventh()).await.unwrap()[..] {
        [Read::Steps(steps)] => steps,
        ref other => panic!("{other:?}"),
    }
}

/// All that a part's outbox holds, and the number of its first posting.
pub(crate) async fn posted(store: &dyn StepStore, part: u32) -> (u64, Vec<Changed>) {
    let outbox = store.outbox(part).await.unwrap();
    assert_eq!(outbox.first + outbox.postings.len() as u64, outbox.last + 1, "{outbox:?}");
    let changes = outbox.postings.iter().flat_map(|posting| posting.decode().unwrap());
    (outbox.first, changes.collect())
}

pub(crate) fn days_after(days: i64) -> Day {
    Day::of(seventh().date() + TimeDelta::days(days)).unwrap()
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
            reporting::absent_reads_0_and_midnight_is_another_key,
            reporting::wide_numbers_come_back_exact_and_absurd_ones_are_refused_whole,
            reporting::increments_add_up_totals_rise_and_the_largest_source_is_the_number,
            reporting::a_source_keeps_to_one_kind_and_a_day_to_eight_sources,
            reporting::a_jump_is_kept_and_marked,
            reporting::a_call_that_is_too_long_stores_nothing,
            reporting::many_users_are_read_in_their_order,
            ids::a_report_that_comes_again_is_a_repeat,
            ids::an_id_is_known_whatever_day_it_names,
            ids::a_known_id_is_a_repeat_before_any_refusal,
            ids::one_id_at_once_under_two_days_is_stored_once,
            ids::sets_of_ids_are_bounded,
            freezing::a_frozen_day_is_refused_and_the_rest_goes_on,
            freezing::the_watermark_only_rises,
            freezing::a_freeze_at_once_with_reports_has_one_winner,
            freezing::who_is_erased_leaves_nothing_and_is_posted_as_gone,
            outbox::each_change_of_a_number_is_posted_once,
            outbox::what_is_posted_goes_and_numbers_go_on,
            outbox::the_outbox_is_bounded_and_shows_the_gap,
            outbox::totals_are_the_entries_of_a_part,
            keeping::what_was_answered_is_there_after_a_restart,
            keeping::a_page_that_cannot_be_read_concerns_its_users_alone,
            racing::calls_at_once_lose_nothing,
            model::it_agrees_with_a_plain_map,
        }
    };
}
pub(crate) use all_checks;
