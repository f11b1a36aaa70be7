use super::*;
use crate::User;

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn new(zone: &str) -> NewUser {
    NewUser {
        uid: Uid(7),
        zone: zone.parse().unwrap(),
        region: None,
        language: None,
        consent: None,
        consent_at: None,
        devices: None,
        name: None,
    }
}

fn device(address: &str, registered_at: Option<&str>) -> NewDevice {
    NewDevice {
        channel: "stub".parse().unwrap(),
        address: address.into(),
        registered_at: registered_at.map(at),
    }
}

fn moved(user: &User) -> Option<(&'static str, String)> {
    user.moved.map(|moved| (moved.from.name(), moved.last.to_string()))
}

#[test]
fn the_longest_move_there_is() {
    // 13:00Z on 7 June: 02:00 of the 7th in Pago Pago (-11), 03:00 of the 8th in Kiritimati (+14)
    let user = new("Pacific/Pago_Pago").over(None, at("2026-06-01T00:00:00Z"));
    assert_eq!(moved(&user), None);
    let user = new("Pacific/Kiritimati").over(Some(&user), at("2026-06-07T13:00:00Z"));
    assert_eq!(moved(&user), Some(("Pacific/Pago_Pago", "20260607".into())));
    // Kiritimati's 22:00 of the 8th is 08:00Z, before the move takes hold at 11:00Z: that night is skipped
    assert!(at("2026-06-08T08:00:00Z") < user.holds_from().unwrap());
    // and its 22:00 of the 9th is after: one push a day, no day twice
    assert!(at("2026-06-09T08:00:00Z") > user.holds_from().unwrap());
    // the same put again changes nothing, whenever it comes
    assert_eq!(new("Pacific/Kiritimati").over(Some(&user), at("2026-06-20T00:00:00Z")), user);
}

#[test]
fn a_second_move_before_the_first_took_hold_keeps_the_zone_in_force() {
    let berlin = new("Europe/Berlin").over(None, at("2026-06-01T00:00:00Z"));
    let tokyo = new("Asia/Tokyo").over(Some(&berlin), at("2026-06-07T10:00:00Z"));
    let lima = new("America/Lima").over(Some(&tokyo), at("2026-06-07T21:59:59Z"));
    assert_eq!(
        (lima.zone.name(), moved(&lima)),
        ("America/Lima", Some(("Europe/Berlin", "20260607".into())))
    );
    // two hours later Berlin's 8 June has begun (22:00Z): Tokyo holds, where it is the 8th too
    let late = new("America/Lima").over(Some(&tokyo), at("2026-06-07T22:00:00Z"));
    assert_eq!(moved(&late), Some(("Asia/Tokyo", "20260608".into())));
    // back home the same day: as if nothing had been
    let home = new("Europe/Berlin").over(Some(&tokyo), at("2026-06-07T11:00:00Z"));
    assert_eq!(home, berlin);
    // a clock set back by a day does not take Berlin's 7 June away
    let back = new("America/Lima").over(Some(&tokyo), at("2026-06-06T11:00:00Z"));
    assert_eq!(moved(&back), Some(("Europe/Berlin", "20260607".into())));
}

/// Auckland's 8 June ends at 12:00Z, when it is the 8th in Los Angeles as well, whose 22:00 is still to come. Who flies on to
/// New York then has had the push of the 8th.
#[test]
fn a_second_move_after_one_westward_does_not_bring_back_a_day() {
    let auckland = new("Pacific/Auckland").over(None, at("2026-06-01T00:00:00Z"));
    let los_angeles = new("America/Los_Angeles").over(Some(&auckland), at("2026-06-08T08:00:00Z"));
    let now = at("2026-06-08T15:00:00Z");
    let new_york = new("America/New_York").over(Some(&los_angeles), now);
    assert_eq!(moved(&new_york), Some(("Pacific/Auckland", "20260608".into())));
    assert_eq!(new_york.zone_on("20260608".parse().unwrap()).name(), "Pacific/Auckland");
    assert_eq!(new("Pacific/Auckland").over(Some(&los_angeles), now), auckland);
    // once it is the 9th in Los Angeles, that zone has its own Day, and keeps it
    let later = new("America/New_York").over(Some(&los_angeles), at("2026-06-09T08:00:00Z"));
    assert_eq!(moved(&later), Some(("America/Los_Angeles", "20260609".into())));
}

proptest::proptest! {
    /// Of whoever moves about as they like, each `Day` has at most one 22:00.
    #[test]
    fn however_somebody_moves_no_day_has_two_pushes(
        moves in proptest::collection::vec((0usize..597, 0i64..40), 1..8),
        start in 1_700_000_000i64..1_900_000_000,
    ) {
        let (line, zones) = ("0 22 * * *".parse().unwrap(), domain::Zone::all().collect::<Vec<_>>());
        let mut from = Instant::from_timestamp(start, 0).unwrap();
        let mut user = new("Asia/Tokyo").over(None, from);
        let (mut pushed, mut all) = (std::collections::BTreeMap::new(), moves.into_iter());
        loop {
            let next = all.next();
            // after the last move for some days more
            let until = from + chrono::TimeDelta::hours(next.map_or(96, |(_, hours)| hours));
            let mut day = domain::Day::of(from.date_naive()).unwrap().previous().previous();
            for _ in 0..9 {
                let zone = user.zone_on(day);
                let fires = domain::fire(&line, 60, zone, day).map(|fire| fire.at);
                if let Some(at) = fires.filter(|at| (from..until).contains(at)) {
                    let before = pushed.insert(day, (zone, at));
                    proptest::prop_assert!(before.is_none(), "{day}: {before:?}, then {zone} {at}");
                }
                day = day.next();
            }
            let Some((zone, _)) = next else { break };
            from = until;
            user = NewUser { zone: zones[zone], ..new("UTC") }.over(Some(&user), from);
        }
    }
}

#[test]
fn consent_counts_from_the_last_opting_in() {
    let with = |consent, consent_at: Option<&str>| NewUser {
        consent: Some(consent),
        consent_at: consent_at.map(at),
        ..new("Europe/Berlin")
    };
    let first = with(true, None).over(None, at("2026-06-01T00:00:00Z"));
    assert_eq!(first.consent_at, at("2026-06-01T00:00:00Z"));
    let again = with(true, None).over(Some(&first), at("2026-06-02T00:00:00Z"));
    assert_eq!(again, first);
    let out = with(false, None).over(Some(&first), at("2026-06-03T00:00:00Z"));
    assert_eq!((out.consent, out.consent_at), (false, first.consent_at));
    assert_eq!(with(false, None).over(Some(&out), at("2026-06-04T00:00:00Z")), out);
    let back = with(true, None).over(Some(&out), at("2026-06-05T00:00:00Z"));
    assert_eq!(back.consent_at, at("2026-06-05T00:00:00Z"));
    let given = with(true, Some("2026-05-01T00:00:00Z")).over(Some(&out), at("2026-06-05T00:00:00Z"));
    assert_eq!(given.consent_at, at("2026-05-01T00:00:00Z"));
    let given = with(true, Some("2026-05-02T00:00:00Z")).over(Some(&given), at("2026-06-05T00:00:00Z"));
    assert_eq!(given.consent_at, at("2026-05-02T00:00:00Z"));
}

#[test]
fn a_device_keeps_the_later_registration() {
    let with = |devices: Vec<NewDevice>| NewUser { devices: Some(devices), ..new("Europe/Berlin") };
    let [t1, t2, t3] = ["2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z", "2026-06-03T00:00:00Z"];
    let user = with(vec![device("a", None), device("b", Some(t1))]).over(None, at(t2));
    assert_eq!(user.devices.iter().map(|d| d.registered_at).collect::<Vec<_>>(), [at(t2), at(t1)]);
    let user =
        with(vec![device("a", Some(t1)), device("b", Some(t3)), device("c", None)]).over(Some(&user), at(t3));
    assert_eq!(user.devices.iter().map(|d| d.registered_at).collect::<Vec<_>>(), [at(t2), at(t3), at(t3)]);
    let user = with(vec![device("b", None), device("b", Some(t1))]).over(Some(&user), at(t3));
    assert_eq!(user.devices.len(), 1);
    assert_eq!(user.devices[0].registered_at, at(t3));
}

#[test]
fn a_finer_clock_than_the_record_is_no_change() {
    let put = NewUser { consent_at: Some(at("2026-06-01T00:00:00.123456789Z")), ..new("Europe/Berlin") };
    let user = put.over(None, at("2026-06-02T00:00:00.987654321Z"));
    assert_eq!(user.consent_at, at("2026-06-01T00:00:00.123Z"));
    assert_eq!(put.over(Some(&user), at("2026-06-03T00:00:00Z")), user);
}

#[test]
fn limits_name_the_field() {
    let fault = |user: NewUser| user.check().unwrap_err().field;
    let with = |devices: Vec<NewDevice>| NewUser { devices: Some(devices), ..new("Europe/Berlin") };
    assert_eq!(fault(NewUser { name: Some("ü".repeat(201)), ..new("Europe/Berlin") }), "name");
    assert_eq!(fault(with(vec![device("a", None); 17])), "devices");
    assert_eq!(fault(with(vec![device("a", None), device("", None)])), "devices[1].address");
    assert_eq!(fault(with(vec![device(&"a".repeat(2049), None)])), "devices[0].address");
    assert_eq!(fault(with(vec![device("a\nb", None)])), "devices[0].address");
    let early = NewDevice { registered_at: Some(at("1969-12-31T23:59:59Z")), ..device("a", None) };
    assert_eq!(fault(with(vec![early])), "devices[0].registered_at");
    let brim = with(vec![device(&"a".repeat(2048), None); 16]);
    assert_eq!(NewUser { name: Some("ü".repeat(200)), ..brim }.check(), Ok(()));
}

#[test]
fn what_is_not_named_stays() {
    let first = NewUser {
        consent: Some(false),
        language: Some("de".parse().unwrap()),
        name: Some("Ada".into()),
        devices: Some(vec![device("a", None)]),
        ..new("Europe/Berlin")
    };
    let out = first.over(None, at("2026-06-01T00:00:00Z"));
    let again = new("Europe/Berlin").over(Some(&out), at("2026-06-02T00:00:00Z"));
    assert_eq!(again, out, "an import without consents opts nobody in again");
    let none = NewUser { devices: Some(Vec::new()), ..new("Europe/Berlin") };
    assert!(none.over(Some(&out), at("2026-06-02T00:00:00Z")).devices.is_empty());
}
