use rig::{Answer, Done, Person, Receiver, Site, shift_to};

use crate::{DAY, quick};

const NIGHT: [&str; 5] = ["night", "run", "--campaign", "nightly", "--json"];

async fn run_at(site: &Site, at: &str) -> Done {
    site.command(&[&NIGHT[..], &["--clock-shift", &shift_to(at)]].concat()).await
}

async fn site() -> (Site, Receiver) {
    let receiver = Receiver::willing().await;
    let site = Site::new(&(quick("[\"hook\"]", 2) + &receiver.channel("hook", "in")));
    let people: Vec<_> = (1..=50).map(|uid| Person::new(uid, "Asia/Tokyo")).collect();
    site.settle(&people, DAY).await;
    (site, receiver)
}

#[tokio::test]
async fn nothing_due_then_done_then_nothing_due() {
    let (site, receiver) = site().await;
    let early = run_at(&site, "2026-06-07T12:45:00Z").await.expect(0).json();
    assert_eq!(early["result"], "nothing_due", "{early}");
    assert_eq!(receiver.count(), 0);

    // the crontab's next line comes within the quarter of an hour
    let done = run_at(&site, "2026-06-07T13:00:01Z").await.expect(0).json();
    assert_eq!((&done["result"], &done["missed"]), (&"done".into(), &0.into()), "{done}");
    let night = &done["nights"][0];
    assert_eq!(
        (&night["due"], &night["delivered"], &night["open"]),
        (&50.into(), &50.into(), &0.into()),
        "{done}"
    );
    assert_eq!(receiver.by_device().len(), 50);

    let late = run_at(&site, "2026-06-07T13:15:00Z").await.expect(0).json();
    assert_eq!(late["result"], "nothing_due", "{late}");
    assert_eq!(receiver.count(), 50);
}

#[tokio::test]
async fn down_over_the_hour_and_up_before_the_deadline_is_not_missed() {
    let (site, receiver) = site().await;
    run_at(&site, "2026-06-07T09:00:00Z").await.expect(0);
    // 23:40 in Tokyo
    let done = run_at(&site, "2026-06-07T14:40:00Z").await.expect(0).json();
    assert_eq!((&done["result"], receiver.count()), (&"done".into(), 50), "{done}");
}

#[tokio::test]
async fn past_the_deadline_it_is_missed_and_nobody_is_pushed_to() {
    let (site, receiver) = site().await;
    let known = run_at(&site, "2026-06-07T03:00:00Z").await.expect(0).json();
    assert_eq!(known["result"], "nothing_due");
    // half past midnight in Tokyo: the `Day` is over
    let missed = run_at(&site, "2026-06-07T15:30:00Z").await.expect(3).json();
    assert_eq!((&missed["result"], &missed["missed"]), (&"missed".into(), &50.into()), "{missed}");
    assert_eq!(missed["nights"][0]["reasons"]["not_published"], 50);
    let told = run_at(&site, "2026-06-07T15:45:00Z").await.expect(0).json();
    assert_eq!(told["result"], "nothing_due", "a missed night is told once: {told}");
    assert_eq!(receiver.count(), 0);
}

#[tokio::test]
async fn a_night_that_was_over_before_the_campaign_was_known_is_nobodys() {
    let (site, receiver) = site().await;
    let done = run_at(&site, "2026-06-07T15:30:00Z").await.expect(0).json();
    assert_eq!((&done["result"], receiver.count()), (&"nothing_due".into(), 0), "{done}");
}

#[tokio::test]
async fn a_campaign_that_is_not_there_is_refused_by_name() {
    let site = Site::new("");
    let done = site.command(&["night", "run", "--campaign", "weekly"]).await.expect(1);
    assert!(done.stderr.contains("weekly"), "{done}");
}

#[tokio::test]
async fn a_night_that_reaches_nobody_is_a_failed_one() {
    let receiver = Receiver::start(|_| Answer::status(400)).await;
    let site = Site::new(&(quick("[\"hook\"]", 2) + &receiver.channel("hook", "in")));
    let people: Vec<_> = (1..=20).map(|uid| Person::new(uid, "Asia/Tokyo")).collect();
    site.settle(&people, DAY).await;
    let failed = run_at(&site, "2026-06-07T13:00:01Z").await;
    assert!(failed.stderr.contains("pushes were not accepted"), "{}", failed.stderr);
    let failed = failed.expect(1).json();
    assert_eq!(failed["result"], "nobody_reached", "{failed}");
    assert_eq!(failed["nights"][0]["rejected"], 20, "{failed}");
}
