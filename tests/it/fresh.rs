use std::os::unix::fs::PermissionsExt as _;

use rig::{Person, Receiver, Site};

use crate::{BEFORE, DAY, FIRES, quick};

#[tokio::test]
async fn the_first_start_makes_a_key_of_0600_and_says_so() {
    let site = Site::new("");
    let running = site.start(BEFORE).await;
    let key = site.data().join("ops.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let secret = std::fs::read_to_string(&key).unwrap();
    let log = running.log();
    assert!(log.contains("ops key was made") && log.contains(key.to_str().unwrap()), "{log}");
    assert!(!log.contains(secret.trim()), "the key itself is in the log");
    assert_eq!(running.stop().await.code(), Some(0));

    let again = site.start(BEFORE).await;
    assert_eq!(std::fs::read_to_string(&key).unwrap(), secret);
    assert!(!again.log().contains("key was made"));
}

#[tokio::test]
async fn nobody_is_let_in_without_the_key_and_watching_needs_none() {
    let site = Site::new("");
    let running = site.start(BEFORE).await;
    for path in
        ["/ops/v1/night?campaign=nightly&day=20260607", "/ops/v1/dead", "/ops/v1/steps?uid=1&day=20260607"]
    {
        let (status, text) = running.get_open(path).await;
        assert_eq!(status, 401, "{path}: {text}");
    }
    assert_eq!(running.get("/ops/v1/dead").await.0, 200);
    assert_eq!(running.get_open("/livez").await.0, 200);
    let (status, ready) = running.get_open("/readyz").await;
    assert_eq!(status, 200, "{ready}");
    let (status, metrics) = running.get_open("/metrics").await;
    assert_eq!(status, 200);
    assert!(metrics.contains("# TYPE stepcast_") && metrics.trim_end().ends_with("# EOF"), "{metrics}");
    assert_eq!(metrics.matches("# EOF").count(), 1);
    let (status, _) = running.post("/ops/v1/users", "{\"uid\":1,\"zone\":\"Mars/Phobos\"}").await;
    assert_eq!(status, 200, "a bad row is answered by its index");
}

#[tokio::test]
async fn the_figures_are_the_ledgers() {
    let receiver = Receiver::willing().await;
    let site = Site::new(&(quick("[\"hook\"]", 1) + &receiver.channel("hook", "in")));
    let people: Vec<_> = (1..=60).map(|uid| Person::new(uid, "Asia/Tokyo")).collect();
    let people: Vec<_> =
        people.into_iter().map(|p| if p.uid % 3 == 0 { p.without_steps() } else { p }).collect();
    site.settle(&people, DAY).await;
    let running = site.start(FIRES).await;
    let night = running.closed("nightly", DAY, 60).await;
    assert_eq!((&night["delivered"], &night["suppressed"]), (&40.into(), &20.into()), "{night}");
    assert_eq!(night["reasons"]["no_steps"], 20);

    let shown =
        site.command(&["night", "show", "--campaign", "nightly", "--day", DAY, "--json"]).await.expect(0);
    let shown = shown.json();
    let (_, metrics) = running.get_open("/metrics").await;
    let terms =
        ["due", "delivered", "suppressed", "expired", "missed", "aborted", "rejected", "dead", "uncertain"];
    for term in terms.iter().chain(&["open", "duplicates", "unknown"]) {
        let wanted = format!("outcome=\"{term}\"");
        let lines = metrics.lines().filter(|l| l.starts_with("stepcast_night_users{") && l.contains(&wanted));
        let sum: u64 = lines.map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
        assert_eq!(shown[term], sum, "{term} in {metrics}");
    }
}
