use rig::{Person, Receiver, Site};

use crate::{BEFORE, DAY, quick};

/// Each operator command that only reads.
fn reading() -> Vec<Vec<&'static str>> {
    vec![
        vec!["night", "show", "--campaign", "nightly", "--day", DAY, "--json"],
        vec!["why", "7", "--campaign", "nightly", "--day", DAY, "--json"],
        vec!["dead", "list", "--json"],
        vec!["store", "get", "7", "--day", DAY, "--json"],
    ]
}

#[tokio::test]
async fn commands_say_the_same_with_the_program_running_and_without() {
    let receiver = Receiver::willing().await;
    let site = Site::new(&(quick("[\"hook\"]", 0) + &receiver.channel("hook", "in")));
    let people: Vec<_> = (1..=30).map(|uid| Person::new(uid, "Asia/Seoul")).collect();
    site.settle(&people, DAY).await;
    let running = site.start("2026-06-07T13:00:00Z").await;
    running.closed("nightly", DAY, 30).await;
    let mut while_running = Vec::new();
    for command in reading() {
        while_running.push(site.command(&command).await.expect(0).json());
    }
    assert_eq!(running.stop().await.code(), Some(0));
    for (command, before) in reading().iter().zip(while_running) {
        assert_eq!(site.command(command).await.expect(0).json(), before);
    }
    let steps = site.command(&["store", "get", "7", "--day", DAY]).await.expect(0);
    assert_eq!(steps.stdout.trim(), "User:Steps:20260607:7 = 1007\n  import: 1007 (totals)");
    let none = site.command(&["store", "get", "7", "--day", "20260608", "--json"]).await.expect(0).json();
    assert!(none["steps"].is_null() && none["sources"].is_null(), "{none}");
}

#[tokio::test]
async fn imports_reach_a_running_program() {
    let site = Site::new("");
    let running = site.start(BEFORE).await;
    let people: Vec<_> = (1..=10).map(|uid| Person::new(uid, "Asia/Seoul")).collect();
    site.settle(&people, DAY).await;
    let (status, steps) = running.get(&format!("/ops/v1/steps?uid=3&day={DAY}")).await;
    assert_eq!((status, &steps["steps"]), (200, &1_003.into()), "{steps}");
    let (_, census) = running.get("/ops/v1/users/census?shards=4").await;
    assert_eq!(census["users"], 10, "{census}");
}

#[tokio::test]
async fn where_nothing_was_ever_started_that_is_said() {
    let site = Site::new("");
    for command in reading() {
        let done = site.command(&command).await.expect(1);
        assert!(done.stderr.contains("there is no data file"), "{done}");
    }
    assert!(!site.data().exists(), "a command that reads made a data folder");
}

#[tokio::test]
async fn a_file_that_somebody_else_holds_is_called_locked() {
    let site = Site::new("");
    let held = plumbing::File::open(&site.data_file()).unwrap();
    for command in
        reading().iter().map(Vec::as_slice).chain([&["run"][..], &["night", "run", "--campaign", "nightly"]])
    {
        let done = site.command(command).await.expect(1);
        assert!(done.stderr.contains("locked"), "{done}");
    }
    // an address and a key of a program that is gone do not help
    site.file("data/ops.addr", "127.0.0.1:1\n");
    site.file("data/ops.key", "0123456789abcdef0123456789abcdef\n");
    std::fs::set_permissions(
        site.data().join("ops.key"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    let done = site.command(&["dead", "list"]).await.expect(1);
    assert!(done.stderr.contains("locked") && done.stderr.contains("127.0.0.1:1"), "{done}");
    drop(held);
    site.command(&["dead", "list"]).await.expect(0);
}

#[tokio::test]
async fn a_second_run_on_the_same_folder_is_refused() {
    let site = Site::new("");
    let running = site.start(BEFORE).await;
    let done = site.command(&["run"]).await.expect(1);
    assert!(done.stderr.contains("locked"), "{done}");
    // and takes nothing from the first
    site.command(&["dead", "list"]).await.expect(0);
    assert_eq!(running.stop().await.code(), Some(0));
}

#[tokio::test]
async fn unknown_names_and_bad_numbers_are_refused_by_name() {
    let site = Site::new("");
    let running = site.start(BEFORE).await;
    for (command, named) in [
        (&["night", "show", "--campaign", "weekly", "--day", DAY][..], "weekly"),
        (&["why", "1", "--campaign", "nightly", "--day", DAY], "1"),
        (&["zones", "audit", "--campaign", "weekly"], "campaign"),
    ] {
        let done = site.command(command).await.expect(1);
        assert!(done.stderr.contains(named), "{done}");
    }
    for (command, named) in [
        (&["night", "show", "--campaign", "nightly", "--day", "20260231"][..], "20260231"),
        (&["night", "show", "--campaign", "nightly", "--day", DAY, "--zone", "Mars/Phobos"], "Mars/Phobos"),
        (&["store", "get", "-1", "--day", DAY], "-1"),
    ] {
        // the command line itself is at fault: clap's code
        let done = site.command(command).await.expect(2);
        assert!(done.stderr.contains(named), "{done}");
    }
    for query in ["campaign=nightly", "campaign=nightly&day=0", "campaign=%00&day=20260607", "day=20260607"] {
        let (status, answer) = running.get(&format!("/ops/v1/night?{query}")).await;
        assert_eq!(status, 400, "{query}: {answer}");
    }
}

/// A key is told once; a hash of it is kept. One that is revoked lets nobody in.
#[tokio::test]
async fn keys_are_made_listed_and_revoked() {
    let site = Site::new("");
    let running = site.start(BEFORE).await;
    let key = site
        .command(&["key", "add", "--scope", "reports", "--scope", "boards", "--name", "gate"])
        .await
        .expect(0);
    let key = key.stdout.strip_suffix('\n').unwrap().to_owned();
    let list = site.command(&["key", "list"]).await.expect(0).stdout;
    let id = key.split('.').nth(1).unwrap();
    assert!(list.contains(id) && list.contains("reports,boards") && list.contains("gate"), "{list}");
    assert!(!list.contains(key.rsplit('.').next().unwrap()), "the list tells the secret");
    let address = std::fs::read_to_string(site.data().join("ingest.addr")).unwrap();
    let gateway = rig::Gateway::new(&format!("http://{}", address.trim()), &key);
    assert_eq!(gateway.post_once(&[]).await, Ok(Vec::new()));
    site.command(&["key", "revoke", id]).await.expect(0);
    let refused = Err(rig::Turned::Away(401, None));
    rig::until("the key to be refused", rig::MOST, async || {
        (gateway.post_once(&[]).await == refused).then_some(())
    })
    .await;
    let unknown = site.command(&["key", "revoke", id]).await.expect(1);
    assert!(unknown.stderr.contains("no API key with this id"), "{unknown}");
    let bad = site.command(&["key", "add", "--scope", "everything"]).await.expect(2);
    assert!(bad.stderr.contains("reports, directory, boards or ops"), "{bad}");
    assert_eq!(running.stop().await.code(), Some(0));
}
