use rig::{Site, shared_data};
use serde_json::Value;

/// What the last line of `--json` has, and nothing else.
const FIELDS: [&str; 19] = [
    "users",
    "due",
    "delivered",
    "suppressed",
    "expired",
    "missed",
    "aborted",
    "rejected",
    "dead",
    "uncertain",
    "open",
    "unknown",
    "duplicates",
    "reports",
    "stored",
    "repeats",
    "refused",
    "mismatch",
    "seconds",
];

/// The night of the demo holds: everybody due is delivered, suppressed or dead, most of them delivered, and nothing else.
#[track_caller]
fn holds(told: &Value, users: u64) {
    let mut names: Vec<_> = told.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut wanted = FIELDS;
    wanted.sort_unstable();
    assert_eq!(names, wanted, "{told}");
    let count = |field: &str| told[field].as_u64().unwrap_or_else(|| panic!("{field} in {told}"));
    assert_eq!(told["users"], users);
    assert_eq!(count("delivered") + count("suppressed") + count("dead"), count("due"), "{told}");
    assert!(count("delivered") * 10 > count("due") * 8, "{told}");
    assert!(count("due") * 2 > users, "{told}");
    for zero in
        ["expired", "missed", "aborted", "rejected", "uncertain", "open", "unknown", "duplicates", "mismatch"]
    {
        assert_eq!(count(zero), 0, "{zero} in {told}");
    }
    let [reports, stored, repeats, refused] = ["reports", "stored", "repeats", "refused"].map(count);
    assert_eq!(stored + repeats + refused, reports, "{told}");
    assert!(stored > 4 * users && repeats > 0 && refused > 0, "{told}");
    assert!(told["seconds"].as_f64().is_some_and(|s| s > 0.0), "{told}");
}

#[tokio::test]
async fn the_demo_plays_a_whole_night() {
    let site = Site::new("");
    let done = site.command(&["demo", "--once", "--json", "--users", "1000"]).await.expect(0);
    holds(&done.json(), 1_000);
    assert!(!site.data().exists(), "the demo touched the data folder");
}

#[tokio::test]
async fn the_demo_takes_real_people_and_their_steps() {
    let Some(data) = shared_data("the_demo_takes_real_people_and_their_steps") else { return };
    let site = Site::new("");
    let done = site.command(&["demo", "--once", "--json", "--data", data.to_str().unwrap()]).await.expect(0);
    holds(&done.json(), 4_039);
}
