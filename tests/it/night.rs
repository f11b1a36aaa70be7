use std::collections::BTreeMap;

use rig::{Device, MOST, Person, Receiver, Site, until};

use crate::{BEFORE, DAY, quick};

const NINE_HOURS_AHEAD: [&str; 3] = ["Asia/Tokyo", "Asia/Seoul", "Pacific/Palau"];

/// 2,000 people: three quarters in three zones that share the instant, the others in Berlin, whose hour is later.
fn people() -> Vec<Person> {
    let person = |uid: u64| {
        let zone =
            NINE_HOURS_AHEAD.get(usize::try_from(uid % 4).unwrap()).copied().unwrap_or("Europe/Berlin");
        let person = Person::new(uid, zone);
        match uid {
            _ if uid % 25 == 1 => person.opted_out(),
            _ if uid.is_multiple_of(10) => person.without_steps(),
            _ if uid.is_multiple_of(7) => {
                let devices = ["phone", "watch"].map(|kind| format!("{kind}-{uid}"));
                let devices = devices.map(|address| Device { channel: "hook", address });
                Person { devices: devices.to_vec(), ..person }
            }
            _ => person,
        }
    };
    (1..=2_000).map(person).collect()
}

#[tokio::test]
async fn everybody_due_gets_it_once_and_nobody_else_anything() {
    let receiver = Receiver::willing().await;
    let site = Site::new(&(quick("[\"hook\"]", 3) + &receiver.channel("hook", "in")));
    let people = people();
    site.settle(&people, DAY).await;
    let running = site.start(BEFORE).await;

    let asleep = |p: &Person| p.zone == "Europe/Berlin";
    let due: Vec<_> = people.iter().filter(|p| p.consent && !asleep(p)).collect();
    let count = u64::try_from(due.len()).unwrap();
    until("the seal", MOST, async || {
        running.night("nightly", DAY).await.filter(|night| night["due"] == count && night["open"] == count)
    })
    .await;

    // who opts out after the seal is in it and gets nothing
    let late: Vec<_> = due.iter().filter(|p| p.steps > 0).take(5).map(|p| p.uid).collect();
    let row = |p: &&&Person| {
        late.contains(&p.uid)
            .then(|| format!("{{\"uid\":{},\"zone\":\"{}\",\"consent\":false}}\n", p.uid, p.zone))
    };
    let (status, answer) =
        running.post("/ops/v1/users", due.iter().filter_map(|p| row(&p)).collect::<String>()).await;
    assert_eq!((status, &answer["counts"]["updated"]), (200, &5.into()), "{answer}");
    assert_eq!(receiver.count(), 0, "a push before the hour");

    running.move_clock("2026-06-07T12:59:59Z").await;
    let night = running.closed("nightly", DAY, count).await;
    let without = u64::try_from(due.iter().filter(|p| p.steps == 0).count()).unwrap();
    assert_eq!(night["reasons"]["no_steps"], without, "{night}");
    assert_eq!(night["reasons"]["opted_out"], 5);
    assert_eq!(night["suppressed"], without + 5);
    assert_eq!(night["delivered"], count - without - 5);
    for term in ["expired", "missed", "aborted", "rejected", "dead", "uncertain", "unknown", "duplicates"] {
        assert_eq!(night[term], 0, "{term} in {night}");
    }

    let pushed = due.iter().filter(|p| p.steps > 0 && !late.contains(&p.uid));
    let wanted: BTreeMap<_, _> =
        pushed.flat_map(|p| p.devices.iter().map(|d| ((p.uid, d.address.clone()), 1))).collect();
    assert_eq!(receiver.by_device(), wanted);
    let steps: BTreeMap<_, _> = people.iter().map(|p| (p.uid, u64::from(p.steps))).collect();
    assert!(receiver.receptions().iter().all(|r| r.steps == steps[&r.uid]), "somebody got another's number");

    let why = async |uid: u64| {
        let told =
            site.command(&["why", &uid.to_string(), "--campaign", "nightly", "--day", DAY, "--json"]).await;
        told.expect(0).json()
    };
    // 4 is in Tokyo, 20 has no steps, 3 is in Berlin, 1 never opted in
    let delivered = why(2).await;
    assert_eq!(delivered["outcome"], if late.contains(&2) { "suppressed" } else { "delivered" });
    let last = due.iter().rfind(|p| p.steps > 0).unwrap().uid;
    let delivered = why(last).await;
    assert_eq!(
        (&delivered["outcome"], &delivered["attempt"]),
        (&"delivered".into(), &1.into()),
        "{delivered}"
    );
    assert_eq!(delivered["identity"], format!("nightly.{DAY}.{last}"));
    assert_eq!(delivered["worked"].as_array().map(Vec::len), Some(1));
    let suppressed = why(20).await;
    assert_eq!((&suppressed["outcome"], &suppressed["reason"]), (&"suppressed".into(), &"no_steps".into()));
    let asleep = why(3).await;
    assert_eq!(
        (&asleep["outcome"], &asleep["zone"]),
        (&"not_due".into(), &"Europe/Berlin".into()),
        "{asleep}"
    );
    let never = why(1).await;
    assert_eq!(never["reason"], "the user is not opted in", "{never}");
    let unknown = site.command(&["why", "999999", "--campaign", "nightly", "--day", DAY]).await.expect(1);
    assert!(unknown.stderr.contains("999999"), "{unknown}");

    // a second start finds nothing to do
    let before = receiver.count();
    assert_eq!(running.stop().await.code(), Some(0));
    let again = site.start("2026-06-07T13:01:00Z").await;
    until("the second start to look at the night", MOST, async || {
        let (_, metrics) = again.get_open("/metrics").await;
        metrics.lines().any(|l| l.starts_with("stepcast_scheduler_shards")).then_some(())
    })
    .await;
    // the users of Berlin are sealed ten minutes before their hour: what comes after all that is no accident of time
    again.move_clock("2026-06-07T19:51:00Z").await;
    let berlin =
        u64::try_from(people.iter().filter(|p| p.consent && p.zone == "Europe/Berlin").count()).unwrap();
    until("the seal of Berlin", MOST, async || {
        again.night("nightly", DAY).await.filter(|night| night["due"] == count + berlin)
    })
    .await;
    assert_eq!(receiver.count(), before, "somebody was pushed to again");
    assert_eq!(again.stop().await.code(), Some(0));

    let args = ["night", "show", "--campaign", "nightly", "--day", DAY, "--recount", "--json"];
    let shown = site.command(&args).await.expect(0).json();
    assert_eq!(shown["recount"]["agrees"], true, "{shown}");
    let seoul = site.command(&[&args[..], &["--zone", "Asia/Seoul"]].concat()).await.expect(0).json();
    assert_eq!(seoul["due"], due.iter().filter(|p| p.zone == "Asia/Seoul").count());
}
