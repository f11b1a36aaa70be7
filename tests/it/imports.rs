use std::io::Write as _;

use rig::Site;
use serde_json::Value;

/// Two good rows and three bad ones, each at fault in another field.
const CSV: &str = "uid,zone,consent_at,devices\n\
    1,Asia/Tokyo,2026-01-01T00:00:00Z,stub:a\n\
    2,Mars/Phobos,2026-01-01T00:00:00Z,stub:b\n\
    x3,Asia/Tokyo,2026-01-01T00:00:00Z,stub:c\n\
    4,Asia/Tokyo,yesterday,stub:d\n\
    5,Europe/Berlin,2026-01-01T00:00:00Z,stub:e|hook:f\n";

const NDJSON: &str = "{\"uid\":1,\"zone\":\"Asia/Tokyo\",\"consent_at\":\"2026-01-01T00:00:00Z\",\"devices\":[{\"channel\":\"stub\",\"address\":\"a\"}]}\n\
    {\"uid\":2,\"zone\":\"Mars/Phobos\"}\n\
    {\"uid\":\"x3\",\"zone\":\"Asia/Tokyo\"}\n\
    {\"uid\":4,\"zone\":\"Asia/Tokyo\",\"consent_at\":\"yesterday\"}\n\
    {\"uid\":5,\"zone\":\"Europe/Berlin\",\"consent_at\":\"2026-01-01T00:00:00Z\",\"devices\":[{\"channel\":\"stub\",\"address\":\"e\"},{\"channel\":\"hook\",\"address\":\"f\"}]}\n";

#[tokio::test]
async fn a_bad_row_is_named_and_the_rest_is_in() {
    for (name, text, first) in [("users.csv", CSV, 3), ("users.ndjson", NDJSON, 2)] {
        for zipped in [false, true] {
            let site = Site::new("");
            let path =
                if zipped { site.file(&format!("{name}.gz"), gzip(text)) } else { site.file(name, text) };
            let done = site.command(&["import", "users", &path, "--json"]).await.expect(1);
            let told = done.json();
            assert_eq!(
                (&told["counts"]["created"], &told["refused"]),
                (&2.into(), &3.into()),
                "{path}: {told}"
            );
            let named: Vec<_> =
                told["first_refused"].as_array().unwrap().iter().map(line_and_field).collect();
            assert_eq!(named, [(first, "zone"), (first + 1, "uid"), (first + 2, "consent_at")], "{told}");

            let again = site.command(&["import", "users", &path, "--json"]).await.expect(1).json();
            assert_eq!(again["counts"], serde_json::json!({ "unchanged": 2 }), "{path}: {again}");
            assert_eq!(again["users"], 2);
        }
    }
}

fn line_and_field(fault: &Value) -> (u64, &str) {
    (fault["line"].as_u64().unwrap(), fault["field"].as_str().unwrap())
}

#[tokio::test]
async fn people_read_the_line_the_field_and_the_reason() {
    let site = Site::new("");
    let path = site.file("users.csv", CSV);
    let done = site.command(&["import", "users", &path]).await.expect(1);
    assert!(done.stderr.contains("line 3: zone: ") && done.stderr.contains("Mars/Phobos"), "{done}");
    assert!(done.stdout.contains("2 created") && done.stdout.contains("3 refused"), "{done}");
}

#[tokio::test]
async fn who_is_deleted_is_out() {
    let site = Site::new("");
    let path = site.file("users.csv", "uid,zone,deleted\n1,Asia/Tokyo,\n2,Asia/Tokyo,false\n");
    site.command(&["import", "users", &path]).await.expect(0);
    let path = site.file("deleted.csv", "uid,zone,deleted\n1,,true\n9,,true\n");
    let told = site.command(&["import", "users", &path, "--json"]).await.expect(0).json();
    assert_eq!(told["counts"], serde_json::json!({ "deleted": 1, "absent": 1 }), "{told}");
    assert_eq!(told["users"], 1);
}

#[tokio::test]
async fn uids_that_crowd_one_shard_are_warned_of() {
    let site = Site::new("");
    let rows = |step: u64| (1..=100).map(|i| format!("{},UTC\n", i * step)).collect::<String>();
    let even = site.file("even.csv", format!("uid,zone\n{}", rows(1)));
    let done = site.command(&["import", "users", &even, "--json"]).await.expect(0);
    assert!(!done.stderr.contains("warning"), "{done}");
    assert_eq!(done.json()["skew"], 1.0);
    let site = Site::new("");
    let crowded = site.file("crowded.csv", format!("uid,zone\n{}", rows(4)));
    let done = site.command(&["import", "users", &crowded, "--json"]).await.expect(0);
    assert!(done.stderr.contains("warning") && done.stderr.contains("uneven"), "{done}");
    assert_eq!(done.json()["skew"], 4.0, "all in one of four shards");
}

#[tokio::test]
async fn what_is_no_file_of_users_is_refused_whole() {
    let site = Site::new("");
    for (name, content, named) in [
        ("empty.csv", "", "empty"),
        ("columns.csv", "uid,zone,shoe_size\n1,UTC,42\n", "shoe_size"),
        ("nameless.dat", "uid,zone\n", "--format"),
        ("cut.csv.gz", "\u{1f}", "cut.csv.gz"),
    ] {
        let path = site.file(name, content);
        let done = site.command(&["import", "users", &path]).await.expect(1);
        assert!(done.stderr.contains(named), "{done}");
    }
    let absent = site.path("absent.csv").to_str().unwrap().to_owned();
    let done = site.command(&["import", "users", &absent]).await.expect(1);
    assert!(done.stderr.contains("absent.csv"), "{done}");
}

#[tokio::test]
async fn totals_of_steps_rise_and_bad_rows_are_named() {
    let site = Site::new("");
    let rows =
        "uid,day,steps\n1,20260607,4000\n1,20260607,4500\n2,20260231,1\n3,20260607,-5\n4,20260607,200001\n";
    let path = site.file("steps.csv", rows);
    let told = site.command(&["import", "steps", &path, "--json"]).await.expect(1).json();
    assert_eq!((&told["counts"]["stored"], &told["refused"]), (&2.into(), &3.into()), "{told}");
    let mut named: Vec<_> = told["first_refused"].as_array().unwrap().iter().map(line_and_field).collect();
    named.sort_unstable();
    assert_eq!(named, [(4, "day"), (5, "steps"), (6, "steps")], "{told}");
    let got = site.command(&["store", "get", "1", "--day", "20260607", "--json"]).await.expect(0).json();
    assert_eq!(got["steps"], 4_500);
    let again = site.command(&["import", "steps", &path, "--json"]).await.expect(1).json();
    assert_eq!((&again["counts"]["stored"], &again["counts"]["repeats"]), (&0.into(), &2.into()), "{again}");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    zip.write_all(text.as_bytes()).unwrap();
    zip.finish().unwrap()
}

#[tokio::test]
async fn a_channel_that_is_not_configured_is_warned_of() {
    let site = Site::new("");
    let path = site.file("users.csv", "uid,zone,devices\n1,Asia/Tokyo,stub:a|fax:b\n2,Asia/Tokyo,fax:c\n");
    let done = site.command(&["import", "users", &path]).await.expect(0);
    assert!(
        done.stderr.contains("2 device(s) are on channel fax, which is not configured"),
        "{}",
        done.stderr
    );
}

#[tokio::test]
async fn one_stray_quote_or_endless_line_spoils_no_other_row_of_steps() {
    let site = Site::new("");
    let long = "9".repeat(200_000);
    let text = format!("uid,day,steps\n1,20260607,10\n\"2,20260607,20\n{long}\n3,20260607,30\n");
    let path = site.file("steps.csv", text);
    let told = site.command(&["import", "steps", &path, "--json"]).await.expect(1).json();
    assert_eq!((&told["counts"]["stored"], &told["refused"]), (&2.into(), &2.into()), "{told}");
    let lines: Vec<_> = told["first_refused"].as_array().unwrap().iter().map(|r| r["line"].clone()).collect();
    assert_eq!(lines, [3, 4], "{told}");
}
