use std::collections::BTreeMap;

use rig::{Answer, Person, Reception};

use super::{Kills, count};

const KILLS: usize = 40;
const USERS: u64 = 4_000;

/// What a device is good for is in its name.
fn judge(push: &Reception) -> Answer {
    match push.device.split('-').next() {
        Some("busy") if push.nth == 1 => Answer::status(503),
        Some("silent") if push.nth == 1 => Answer::reset(),
        Some("gone") => Answer::status(410),
        Some("refused") => Answer::status(400),
        _ => Answer::status(200),
    }
}

fn kind(uid: u64) -> &'static str {
    match uid % 10 {
        0 => "busy",
        1 => "silent",
        2 if uid.is_multiple_of(3) => "gone",
        3 if uid.is_multiple_of(3) => "refused",
        _ => "fine",
    }
}

/// Child batches, dropped devices and refusals come through kills as well as deliveries do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_among_retries_lose_nobody() {
    let kills = Kills::new(KILLS, USERS, judge).await;
    let person = |uid| {
        let address = format!("{}-{uid}", kind(uid));
        Person::new(uid, "Asia/Tokyo").on(&[("hook", &address)])
    };
    let people: Vec<_> = (1..=USERS).map(person).collect();
    let last = kills.happen(&people).await;
    let shown = kills.close(last, USERS).await;
    let counted = |field: &str| shown[field].as_u64().unwrap();

    let of = |wanted: &str| count(&people, |p| kind(p.uid) == wanted);
    let (final_ones, silent) = (of("refused") + of("gone"), of("silent"));
    // one that was in flight at a kill may have been taken, and then what ends without a delivery is uncertain
    assert!(shown["reasons"]["refused"].as_u64().unwrap() <= of("refused"), "{shown}");
    assert!(counted("rejected") + counted("suppressed") <= final_ones, "{shown}");
    assert!(counted("rejected") + counted("suppressed") > final_ones / 2, "{shown}");
    // a silent one that was taken over from a killed start has had its one more try
    let willing = of("fine") + of("busy");
    assert!((willing..=willing + silent).contains(&counted("delivered")), "{shown}");
    let ended = ["delivered", "rejected", "suppressed", "uncertain"].map(counted).iter().sum::<u64>();
    assert_eq!(ended, USERS, "{shown}");
    for term in ["expired", "missed", "aborted", "dead"] {
        assert_eq!(shown[term], 0, "{term} in {shown}");
    }

    let mut came: BTreeMap<u64, usize> = BTreeMap::new();
    kills.receiver.receptions().iter().for_each(|r| *came.entry(r.uid).or_default() += 1);
    let never: Vec<_> = people.iter().filter(|p| !came.contains_key(&p.uid)).map(|p| p.uid).collect();
    assert_eq!(never, [0; 0], "closed and never pushed to");
    let unasked = people.iter().filter(|p| kind(p.uid) == "busy" && came[&p.uid] < 2).count();
    assert_eq!(unasked, 0, "busy ones who were not asked again");
}
