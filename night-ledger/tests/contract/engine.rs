use std::sync::Arc;

use async_trait::async_trait;
use night_ledger::NightLedger;

/// An engine with nothing in it.
#[async_trait]
pub(crate) trait Engine: Send + Sync {
    fn ledger(&self) -> Arc<dyn NightLedger>;

    /// All who hold a lease die, and their leases on batches run out. The caller has dropped all it had of the ledger.
    async fn kill(&mut self);

    /// Takes away what was written.
    async fn clean(&mut self);
}

/// Runs checks on an engine: `checks!(start, [attributes], module::check, ...)`.
macro_rules! checks {
    ($start:expr, $attributes:tt, $($module:ident :: $name:ident),* $(,)?) => {
        $(crate::engine::check!($start, $attributes, $module, $name);)*
    };
}

macro_rules! check {
    ($start:expr, [$($attribute:tt)*], $module:ident, $name:ident) => {
        $($attribute)*
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let mut engine = $start.await;
            crate::$module::$name(&mut engine).await;
            crate::engine::Engine::clean(&mut engine).await;
        }
    };
}

/// Runs the checks that all engines pass.
macro_rules! all_checks {
    ($start:expr, $attributes:tt) => {
        crate::engine::checks! { $start, $attributes,
            nights::a_night_keeps_its_shard_count_and_is_forgotten_whole,
            nights::a_campaign_is_first_seen_once_with_a_line,
            nights::an_abort_stays_and_a_pause_does_not,
            seals::a_seal_is_written_once_and_a_zone_only_in_one,
            seals::a_seal_that_cannot_be_is_refused,
            seals::a_lower_epoch_is_refused_and_a_checkpoint_never_goes_back,
            seals::shards_and_instants_are_counted_apart,
            leases::an_epoch_rises_with_every_new_owner,
            leases::an_epoch_is_above_the_one_that_is_given,
            leases::whoever_announces_itself_is_alive,
            steps::a_lease_keeps_others_out_until_it_is_given_up_or_the_process_dies,
            steps::every_chunk_that_was_in_flight_is_marked_when_it_is_taken_over,
            steps::two_batches_with_the_same_users_do_not_take_each_others_claims,
            steps::a_seal_or_position_that_is_not_there_is_told,
            steps::an_attempt_that_cannot_be_changes_nothing,
            steps::what_is_to_be_published_is_kept_with_the_outcomes_until_it_is,
            steps::what_is_published_takes_nothing_along_that_is_not,
            steps::a_move_takes_due_and_open_along,
            steps::a_step_whose_answer_was_lost_ends_the_same,
            steps::who_comes_back_late_books_nothing_that_is_anothers,
            steps::an_outcome_that_comes_twice_does_not_free_what_another_took,
            steps::scattered_users_go_like_neighbours,
            closing::closing_calls_uncertain_what_may_have_been_taken,
            closing::closing_tells_missed_from_never_worked_and_happens_once,
            closing::an_abort_leaves_what_is_claimed,
            closing::what_was_given_up_opens_again_where_it_is_booked,
            racing::one_of_many_owners_gets_a_batch,
            racing::twin_batches_share_their_users,
            racing::many_take_over_at_once_and_all_is_marked,
            racing::a_seal_closes_while_senders_work,
            racing::a_seal_is_aborted_while_senders_work,
        }
    };
}

pub(crate) use {all_checks, check, checks};
