use std::time::Duration;

use rig::{Answer, MOST, Person, Receiver, Site, until};

use crate::{DAY, FIRES, quick};

#[tokio::test]
async fn a_stop_within_the_night_lets_what_is_in_flight_end_and_the_next_start_goes_on() {
    let receiver = Receiver::start(|_| Answer::status(200).late(Duration::from_millis(60))).await;
    let site = Site::new(&(quick("[\"hook\"]", 2) + &receiver.channel("hook", "in")));
    let people: Vec<_> = (1..=1_500).map(|uid| Person::new(uid, "Asia/Tokyo")).collect();
    site.settle(&people, DAY).await;
    for stop in 1..=3 {
        let running = site.start(FIRES).await;
        let before = receiver.count();
        until("a hundred more pushes", MOST, async || (receiver.count() >= before + 100).then_some(())).await;
        let log = running.log();
        assert_eq!(running.stop().await.code(), Some(0), "{log}");
        assert!(receiver.count() < 1_500, "stop {stop} came after the night: it shows nothing");
    }
    let running = site.start(FIRES).await;
    let night = running.closed("nightly", DAY, 1_500).await;
    assert_eq!((&night["delivered"], &night["duplicates"]), (&1_500.into(), &0.into()), "{night}");
    let counts = receiver.by_device();
    assert_eq!(counts.len(), 1_500);
    assert!(counts.values().all(|&n| n == 1), "a stop in good order repeats nothing");
}
