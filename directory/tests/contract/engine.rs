use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use directory::{Change, Column, ColumnRow, Directory, NewDevice, NewUser, PARTS, Position, RosterRow};
use domain::{Instant, Uid};

/// An engine with nothing in it.
#[async_trait]
pub(crate) trait Engine: Send + Sync {
    fn directory(&self) -> Arc<dyn Directory>;

    /// Puts bytes in the place of a user's record, and nothing else.
    async fn plant_record(&self, uid: Uid, bytes: &[u8]);

    /// How many rounds a check of random changes takes.
    fn rounds(&self) -> usize;

    /// Takes away what the checks left.
    async fn end(&self);
}

/// Makes a test of every check, over an engine made anew for each.
macro_rules! all_checks {
    ($engine:expr $(, #[$mark:meta])*) => {
        crate::engine::checks! {
            $engine, [$(#[$mark])*],
            changes::an_empty_directory_answers,
            changes::changes_are_applied_in_order_and_twice_is_once,
            changes::a_user_twice_in_a_call_is_changed_twice,
            changes::a_move_is_in_the_record_the_roster_and_the_zones,
            changes::a_record_of_a_later_version_is_an_error_that_names_the_user,
            changes::two_writers_at_once_on_a_page_lose_nothing,
            changes::roster_and_zones_follow_the_records,
            devices::a_device_registered_again_after_it_was_gone_stays,
            devices::a_channel_too_many_is_refused_by_name_and_alone,
            patches::a_patch_changes_what_it_names_and_makes_nobody,
            patches::a_patch_moves_and_is_refused_past_a_limit,
            patches::patches_at_once_lose_nothing,
            limits::a_user_past_a_limit_is_refused_and_the_rest_go_on,
            limits::a_call_past_a_limit_is_refused_whole,
            rosters::a_page_holds_neighbours_and_every_uid_has_one,
            rosters::due_from_is_the_next_whole_minute,
            rosters::what_is_too_old_goes_from_a_page_that_is_written,
            rosters::who_is_due_is_as_the_records_have_it,
            following::the_log_tells_what_changed_once,
            following::a_log_that_does_not_reach_back_says_so,
            following::what_changes_nothing_in_the_roster_is_not_told,
            column::a_column_has_what_the_roster_has,
            column::a_column_that_follows_is_one_that_was_loaded_anew,
            column::what_is_too_old_is_not_kept,
            column::a_refresh_that_fails_leaves_what_stands,
            column::kinds_that_are_gone_are_forgotten,
            load::a_hundred_thousand_users_are_written_and_read,
        }
    };
}

macro_rules! checks {
    ($engine:expr, $marks:tt, $($module:ident :: $name:ident),* $(,)?) => {
        $(crate::engine::check!($engine, $marks, $module::$name);)*
    };
}

macro_rules! check {
    ($engine:expr, [$($mark:tt)*], $module:ident :: $name:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        $($mark)*
        async fn $name() {
            let engine = $engine.await;
            crate::$module::$name(&engine).await;
            crate::engine::Engine::end(&engine).await;
        }
    };
}

pub(crate) use {all_checks, check, checks};

pub(crate) fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

pub(crate) fn noon() -> Instant {
    at("2026-06-07T12:00:00Z")
}

pub(crate) fn new(uid: u64, zone: &str, devices: &[(&str, &str)]) -> NewUser {
    let device = |(channel, address): &(&str, &str)| NewDevice {
        channel: channel.parse().unwrap(),
        address: (*address).to_owned(),
        registered_at: None,
    };
    NewUser {
        uid: Uid(uid),
        zone: zone.parse().unwrap(),
        region: None,
        language: None,
        consent: Some(true),
        consent_at: None,
        devices: Some(devices.iter().map(device).collect()),
        name: Some(format!("user {uid}")),
    }
}

pub(crate) fn put(uid: u64, zone: &str, devices: &[(&str, &str)]) -> Change {
    Change::Put(new(uid, zone, devices))
}

pub(crate) async fn zones(of: &dyn Directory) -> Vec<(&'static str, u64)> {
    of.zones().await.unwrap().into_iter().map(|(zone, n)| (zone.name(), n)).collect()
}

/// Every row, by uid.
pub(crate) async fn roster(of: &dyn Directory) -> Vec<RosterRow> {
    let mut rows = Vec::new();
    for (part, changed) in (0..PARTS).zip(of.changed(&[]).await.unwrap()) {
        assert!(changed.whole || changed.upto == Position::default());
        for page in of.pages(part, &changed.pages).await.unwrap() {
            rows.append(&mut page.unwrap().rows().unwrap());
        }
    }
    rows.sort_by_key(|row| row.uid);
    rows
}

/// A row as text, with the channels in order of name.
pub(crate) fn channels(row: &RosterRow) -> Vec<&str> {
    let mut names: Vec<_> = row.channels.iter().map(|channel| channel.as_str()).collect();
    names.sort_unstable();
    names
}

/// A column that was loaded just now.
pub(crate) async fn loaded(of: &dyn Directory, now: Instant) -> Column {
    let mut column = Column::default();
    column.refresh(of, now).await.unwrap();
    column
}

/// What a column says of everybody, by uid. Who opted in more than two weeks ago always has.
pub(crate) fn told(column: &Column, now: Instant) -> Vec<String> {
    let mut rows: Vec<_> = column.rows().collect();
    rows.sort_by_key(|row| row.uid);
    let text = |row: &ColumnRow| {
        let zone = column.zones()[usize::from(row.zone)].name();
        let kind = &column.kinds()[usize::from(row.kind)];
        let channels: Vec<_> = kind.channels.iter().map(|channel| channel.as_str()).collect();
        let due_from = if row.due_at(now - TimeDelta::days(14)) { 0 } else { row.due_from };
        format!("{} {zone} {} {channels:?} {due_from} {:?}", row.uid, kind.consent, row.moved)
    };
    rows.iter().map(text).collect()
}
