use domain::Zone;
use proptest::prelude::*;

use super::*;

fn fault(line: &str) -> (String, String) {
    let refusal = parse_line(line.as_bytes()).expect_err(line);
    (refusal.field, refusal.reason)
}

#[test]
fn a_full_line_and_the_shortest_ones() {
    let line = r#"{"uid":1001,"zone":"Europe/Berlin","language":"de","region":"eu","consent":false,
        "consent_at":"2026-06-01T10:00:00+02:00","name":"Ada","devices":[{"channel":"stub","address":"a|b",
        "registered_at":"2026-06-01T08:00:00.5Z"},{"channel":"webhook","address":"https://x"}]}"#;
    let Change::Put(user) = parse_line(line.as_bytes()).unwrap() else { panic!() };
    assert_eq!(
        (user.uid, user.zone.name(), user.language.clone()),
        (Uid(1001), "Europe/Berlin", "de".parse().ok())
    );
    assert_eq!(
        (user.region.clone(), user.consent, user.name.as_deref()),
        ("eu".parse().ok(), Some(false), Some("Ada"))
    );
    assert_eq!(user.consent_at, Some("2026-06-01T08:00:00Z".parse().unwrap()));
    let devices = user.devices.unwrap();
    assert_eq!(devices.len(), 2);
    assert_eq!(devices[0].address, "a|b");
    assert_eq!(devices[0].registered_at, Some("2026-06-01T08:00:00.500Z".parse().unwrap()));
    assert_eq!(devices[1].registered_at, None);

    let short = parse_line(br#"{"uid":"1001","zone":"Asia/Tokyo","name":null}"#).unwrap();
    let Change::Put(user) = short else { panic!() };
    assert_eq!((user.region, user.language), (None, None));
    assert!(
        user.consent.is_none() && user.consent_at.is_none() && user.devices.is_none() && user.name.is_none()
    );

    assert_eq!(parse_line(br#"{"uid":1001,"deleted":true}"#), Ok(Change::Delete(Uid(1001))));
}

#[test]
fn a_uid_has_one_spelling() {
    for good in ["18446744073709551615", r#""18446744073709551615""#] {
        let line = format!(r#"{{"uid":{good},"deleted":true}}"#);
        assert_eq!(parse_line(line.as_bytes()), Ok(Change::Delete(Uid(u64::MAX))));
    }
    let bad =
        ["1001.0", r#""01001""#, r#""1001.0""#, r#""""#, "-1", "1e3", "18446744073709551616", "true", "[1]"];
    for uid in bad {
        assert_eq!(fault(&format!(r#"{{"uid":{uid},"deleted":true}}"#)).0, "uid", "{uid}");
    }
    // a number with leading zeros is no JSON at all
    assert_eq!(fault(r#"{"uid":01001,"deleted":true}"#).0, "line");
    assert_eq!(fault(r#"{"zone":"Asia/Tokyo"}"#), ("uid".into(), "is missing".into()));
}

#[test]
fn faults_name_their_field() {
    let cases = [
        (r#"{"uid":1}"#, "zone"),
        (r#"{"uid":1,"deleted":false}"#, "zone"),
        (r#"{"uid":1,"zone":"Mars/Tharsis"}"#, "zone"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","language":"d_e"}"#, "language"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","region":"Main"}"#, "region"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","consent":"maybe"}"#, "consent"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","consent_at":"yesterday"}"#, "consent_at"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","consent_at":"2026-02-30T00:00:00Z"}"#, "consent_at"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","nick":"x"}"#, "nick"),
        (r#"{"uid":1,"uid":2,"zone":"Asia/Tokyo"}"#, "uid"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","devices":[{"address":"x"}]}"#, "devices[0].channel"),
        (
            r#"{"uid":1,"zone":"Asia/Tokyo","devices":[{"channel":"a b","address":"x"}]}"#,
            "devices[0].channel",
        ),
        (r#"{"uid":1,"zone":"Asia/Tokyo","devices":[{"channel":"a"}]}"#, "devices[0].address"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","devices":[{"channel":"a","address":"x","age":1}]}"#, "age"),
        ("null", "line"),
        ("[]", "line"),
        (r#"[1,"Asia/Tokyo"]"#, "line"),
        (r#"{"uid":1,"zone":"Asia/Tokyo","devices":[["a","x"]]}"#, "devices[0]"),
        ("{}{}", "line"),
        ("", "line"),
        ("{", "line"),
    ];
    for (line, field) in cases {
        assert_eq!(fault(line).0, field, "{line}");
    }
    assert!(fault(cases[8].0).1.contains("language"), "the known ones are listed");
}

#[test]
fn a_field_without_a_name_is_told_too() {
    for line in [r#"{"":1}"#, r#"{"""#] {
        let (field, reason) = fault(line);
        assert!(!field.is_empty() && !reason.is_empty(), "{line}: {field:?} {reason:?}");
    }
}

#[test]
fn no_name_or_address_is_repeated() {
    let lines = [
        r#""SECRET""#,
        r#"["SECRET"]"#,
        r#"{"uid":1,"zone":"Asia/Tokyo","name":["SECRET"]}"#,
        r#"{"uid":1,"zone":"Asia/Tokyo","devices":"SECRET"}"#,
        r#"{"uid":1,"zone":"Asia/Tokyo","devices":["SECRET"]}"#,
        r#"{"uid":1,"zone":"Asia/Tokyo","devices":[{"channel":"a","address":["SECRET"]}]}"#,
        r#"{"uid":1,"zone":"Asia/Tokyo","devices":[{"channel":"a","address":"SECRET\u0000"}]}"#,
    ];
    for line in lines {
        let (field, reason) = fault(line);
        assert!(!field.contains("SECRET") && !reason.contains("SECRET"), "{line}: {field}: {reason}");
    }
    let line: ChangeLine =
        serde_json::from_str(r#"{"uid":1,"name":"SECRET","devices":[{"address":"SECRET"}]}"#).unwrap();
    assert!(!format!("{line:?}{:?}", line.devices).contains("SECRET"));
}

fn any_instant() -> impl Strategy<Value = Instant> {
    (0i64..250_000_000_000, 0u32..1_000_000_000)
        .prop_map(|(s, ns)| Instant::from_timestamp(s, ns).unwrap_or_default())
}

prop_compose! {
    fn any_device()(channel in "[a-z0-9][a-z0-9_-]{0,31}", address in "[^\\pC]{1,100}",
        registered_at in prop::option::of(any_instant())) -> NewDevice
    {
        NewDevice { channel: channel.parse().unwrap(), address, registered_at }
    }
}

prop_compose! {
    fn any_user()(
        uid: u64,
        zone in prop::sample::select(Zone::all().collect::<Vec<_>>()),
        region in "[a-z0-9][a-z0-9_-]{0,31}",
        language in "[a-z]{2}(-[A-Za-z0-9]{1,8}){0,3}",
        consent: bool,
        consent_at in prop::option::of(any_instant()),
        devices in prop::collection::vec(any_device(), 0..=16),
        name in prop::collection::vec(any::<char>(), 0..200),
    ) -> NewUser {
        NewUser {
            uid: Uid(uid), zone, region: Some(region.parse().unwrap()), language: Some(language.parse().unwrap()),
            consent: Some(consent),
            consent_at, devices: Some(devices), name: Some(name.into_iter().collect()),
        }
    }
}

proptest! {
    #[test]
    fn a_line_is_read_as_it_was_written(user in any_user()) {
        let change = Change::Put(user);
        let line = to_line(&change);
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(parse_line(line.as_bytes()), Ok(change));
    }

    #[test]
    fn a_deletion_is_read_as_it_was_written(uid: u64) {
        let change = Change::Delete(Uid(uid));
        prop_assert_eq!(parse_line(to_line(&change).as_bytes()), Ok(change));
    }
}
