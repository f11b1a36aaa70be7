use std::fmt::Write;

use super::*;
use crate::testing::Town;

/// Proves the night of a town by these lines; what differs.
async fn differences(town: &Town, receipts: &str) -> BTreeMap<Kind, u64> {
    let path = town.folder().join("receipts");
    std::fs::write(&path, receipts).unwrap();
    let proof = prove(&town.access(), town.night(), &path, true).await.unwrap();
    proof.tell();
    proof.differences
}

fn receipts(uids: impl IntoIterator<Item = u64>) -> String {
    uids.into_iter().fold(String::new(), |mut text, uid| {
        writeln!(text, "{{\"identity\": \"nightly.20260607.{uid}\", \"at\": \"2026-06-07T22:00:01Z\"}}")
            .unwrap();
        text
    })
}

#[tokio::test]
async fn a_night_is_proved_by_its_receipts_and_by_no_others() {
    // users 1 to 40 have steps, 41 to 50 have none
    let town = Town::new(50, 40).await;
    town.night_over().await;
    let all = receipts(1..=40);
    let other = "{\"identity\": \"nightly.20260606.1\"}\n{\"identity\": \"morning.20260607.77\"}\n";
    let further = "{\"identity\": \"nightly.20260607.7.00000000000000aa\"}\n";
    assert_eq!(differences(&town, &format!("{all}{other}{further}")).await, BTreeMap::new());
    for (lines, kind, count) in [
        (receipts(3..=40), Kind::NotReceived, 2),
        (all.clone() + &receipts([41, 50]), Kind::Received, 2),
        (all.clone() + &receipts([9]), Kind::Repeated, 1),
        (all.clone() + further + further, Kind::Repeated, 1),
        (all.clone() + &receipts([51, 99]), Kind::NotDue, 2),
        (all.clone() + "{\"identity\": \"nightly.20260607\"}\nsoon\n", Kind::Unreadable, 2),
    ] {
        assert_eq!(differences(&town, &lines).await, BTreeMap::from([(kind, count)]));
    }
}

#[tokio::test]
async fn a_night_that_is_not_over_is_not_proved() {
    let town = Town::new(20, 20).await;
    town.published().await;
    assert_eq!(differences(&town, "").await, BTreeMap::from([(Kind::Open, 1)]));
    let early = differences(&town, &receipts([5])).await;
    assert_eq!(early, BTreeMap::from([(Kind::Open, 1), (Kind::Received, 1)]));
}

#[tokio::test]
async fn with_json_each_difference_is_named_and_else_the_first_of_them() {
    let town = Town::new(1, 1).await;
    for (json, differences, untold) in
        [(false, MOST_TOLD, 0), (false, MOST_TOLD + 7, 7), (true, MOST_TOLD + 7, 0), (true, u64::MAX, 0)]
    {
        let mut proof = Proof::new(town.night(), json);
        proof.differences.insert(Kind::NotDue, differences);
        assert_eq!(proof.untold(), untold, "{json} {differences}");
    }
}

#[tokio::test]
async fn a_night_that_is_not_there_is_refused_by_name() {
    let town = Town::new(1, 1).await;
    let receipts = town.folder().join("none");
    let refused = prove(&town.access(), town.night(), &receipts, false).await.err().unwrap().to_string();
    assert!(refused.contains("nightly/20260607"), "{refused}");
}
