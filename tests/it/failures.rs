use std::time::Duration;

use rig::{Answer, Person, Receiver, Reception, Site};
use serde_json::Value;

use crate::{DAY, FIRES, quick};

const ZONE: &str = "Asia/Tokyo";

/// Each device gets what its name says.
fn judge(push: &Reception) -> Answer {
    match push.device.as_str() {
        "busy-once" if push.nth == 1 => Answer::status(503).retry_after(1),
        "throttled-once" if push.nth == 1 => Answer::status(429).retry_after(1),
        "gone" => Answer::status(410),
        "refused" => Answer::status(400),
        "silent" => Answer::reset(),
        "silent-once" if push.nth == 1 => Answer::reset(),
        "broken" => Answer::status(500),
        _ => Answer::status(200),
    }
}

struct Failing {
    site: Site,
    receiver: Receiver,
}

impl Failing {
    /// Channels: `hook` as [`judge`] says, `second` willing, `nowhere` a port where nobody listens.
    async fn with(people: &[Person]) -> Self {
        let receiver = Receiver::start(judge).await;
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let nowhere = format!(
            "[channels.nowhere]\nkind = \"webhook\"\nurl = \"http://{closed}/\"\nallow_private = true\ntimeout = \"1s\"\n\
             secret = \"{}\"\n",
            rig::SECRET
        );
        let channels = receiver.channel("hook", "hook") + &receiver.channel("second", "second") + &nowhere;
        let site = Site::new(&(quick("[\"hook\", \"second\", \"nowhere\"]", 0) + &channels));
        site.settle(people, DAY).await;
        Self { site, receiver }
    }

    async fn night(&self, due: u64) -> Value {
        let running = self.site.start(FIRES).await;
        let night = running.closed("nightly", DAY, due).await;
        running.drained().await;
        assert_eq!(running.stop().await.code(), Some(0));
        night
    }

    async fn why(&self, uid: u64) -> Value {
        let args = ["why", &uid.to_string(), "--campaign", "nightly", "--day", DAY, "--json"];
        self.site.command(&args).await.expect(0).json()
    }
}

fn on(uid: u64, devices: &[(&'static str, &str)]) -> Person {
    Person::new(uid, ZONE).on(devices)
}

#[tokio::test]
async fn a_busy_receiver_is_asked_again_no_sooner_than_it_wants() {
    let failing = Failing::with(&[on(1, &[("hook", "busy-once")]), on(2, &[("hook", "fine")])]).await;
    let night = failing.night(2).await;
    assert_eq!(night["delivered"], 2, "{night}");
    let came = failing.receiver.of(1);
    assert_eq!(came.len(), 2, "{came:?}");
    assert_eq!(came[0].identity, came[1].identity);
    assert!(came[1].at - came[0].at >= Duration::from_secs(1), "{:?}", came[1].at - came[0].at);
    let why = failing.why(1).await;
    assert_eq!((&why["attempt"], &why["outcome"]), (&2.into(), &"delivered".into()), "{why}");
    assert_eq!(failing.receiver.of(2).len(), 1);
}

#[tokio::test]
async fn a_throttled_channel_rests_and_no_attempt_is_used_up() {
    let people: Vec<_> = (1..=60).map(|uid| on(uid, &[("hook", "fine")])).collect();
    let people = [people, vec![on(61, &[("hook", "throttled-once")])]].concat();
    let failing = Failing::with(&people).await;
    let night = failing.night(61).await;
    assert_eq!((&night["delivered"], &night["duplicates"]), (&61.into(), &0.into()), "{night}");
    let came = failing.receiver.of(61);
    assert_eq!(came.len(), 2, "{came:?}");
    assert!(came[1].at - came[0].at >= Duration::from_secs(1), "{:?}", came[1].at - came[0].at);
    let why = failing.why(61).await;
    assert_eq!((&why["attempt"], &why["maybe"]), (&1.into(), &false.into()), "{why}");
    assert!((1..=60).all(|uid| failing.receiver.of(uid).len() == 1));
}

#[tokio::test]
async fn a_device_that_is_gone_is_dropped() {
    let people = [
        on(1, &[("hook", "gone")]),
        on(2, &[("hook", "gone"), ("hook", "fine")]),
        on(3, &[("hook", "gone"), ("second", "other")]),
        on(4, &[("hook", "fine")]),
    ];
    let failing = Failing::with(&people).await;
    let night = failing.night(4).await;
    assert_eq!((&night["delivered"], &night["rejected"]), (&3.into(), &1.into()), "{night}");
    assert_eq!(night["reasons"]["device_gone"], 1);
    let why = failing.why(3).await;
    assert_eq!((&why["outcome"], &why["channel"]), (&"delivered".into(), &"second".into()), "{why}");
    let second = failing.receiver.of(3);
    assert_eq!(second.iter().map(|r| r.path.as_str()).collect::<Vec<_>>(), ["/hook", "/second"]);

    // the next night knows
    let tomorrow = "20260608";
    let steps: String = (1..=4).map(|uid| format!("{uid},{tomorrow},500\n")).collect();
    let steps = failing.site.file("tomorrow.csv", format!("uid,day,steps\n{steps}"));
    failing.site.command(&["import", "steps", &steps]).await.expect(0);
    let before = failing.receiver.count();
    let running = failing.site.start("2026-06-08T13:00:00Z").await;
    let night = running.closed("nightly", tomorrow, 3).await;
    assert_eq!(night["delivered"], 3, "{night}");
    let came = failing.receiver.receptions().split_off(before);
    assert!(came.iter().all(|r| r.device != "gone"), "{came:?}");
    assert_eq!(came.len(), 3);
}

#[tokio::test]
async fn what_is_refused_for_good_is_not_tried_again() {
    let failing = Failing::with(&[on(1, &[("hook", "refused")])]).await;
    let night = failing.night(1).await;
    assert_eq!((&night["rejected"], &night["reasons"]["refused"]), (&1.into(), &1.into()), "{night}");
    assert_eq!(failing.receiver.of(1).len(), 1);
}

#[tokio::test]
async fn where_no_answer_comes_one_more_try_is_made_under_the_same_identity() {
    let failing = Failing::with(&[on(1, &[("hook", "silent")]), on(2, &[("hook", "silent-once")])]).await;
    let night = failing.night(2).await;
    assert_eq!((&night["uncertain"], &night["delivered"]), (&1.into(), &1.into()), "{night}");
    assert_eq!(night["reasons"]["no_answer"], 1);
    assert_eq!(night["duplicates"], 2, "both were pushed again after a push that may have been taken");
    for uid in [1, 2] {
        let came = failing.receiver.of(uid);
        assert_eq!(came.len(), 2, "{came:?}");
        assert_eq!(came[0].identity, came[1].identity);
    }
}

#[tokio::test]
async fn the_last_attempt_ends_in_a_dead_letter_unless_a_push_may_have_been_taken() {
    let failing = Failing::with(&[on(1, &[("nowhere", "x")]), on(2, &[("hook", "broken")])]).await;
    let night = failing.night(2).await;
    // nobody took the first; a server that broke may have taken the second before it did
    assert_eq!((&night["dead"], &night["uncertain"]), (&1.into(), &1.into()), "{night}");
    assert_eq!(failing.receiver.of(2).len(), 3, "three attempts are set");
    let list = failing.site.command(&["dead", "list", "--json"]).await.expect(0).json();
    let letters = list["dead"].as_array().unwrap();
    assert_eq!(letters.len(), 1, "{list}");
    assert_eq!((&letters[0]["channel"], &letters[0]["reason"]), (&"nowhere".into(), &"attempts".into()));
    let id = letters[0]["id"].to_string();
    let letter = failing.site.command(&["dead", "show", &id, "--json"]).await.expect(0).json();
    assert_eq!((&letter["uids"], &letter["attempt"]), (&serde_json::json!(["1"]), &3.into()), "{letter}");
    let absent = failing.site.command(&["dead", "show", "4711"]).await.expect(1);
    assert!(absent.stderr.contains("4711"), "{absent}");
}
