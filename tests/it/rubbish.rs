use rig::{Person, Site};

use crate::DAY;

const LIST: [&str; 2] = ["dead", "list"];

#[tokio::test]
async fn a_data_file_that_is_none_is_an_error_and_stays_as_it_is() {
    let site = Site::new("");
    std::fs::create_dir_all(site.data()).unwrap();
    let rubbish = b"this was a shopping list: milk, eggs, ".repeat(2_000);
    std::fs::write(site.data_file(), &rubbish).unwrap();
    for command in [&LIST[..], &["run"], &["night", "run", "--campaign", "nightly"]] {
        let done = site.command(command).await.expect(1);
        assert!(done.stderr.contains("stepcast.redb"), "{done}");
    }
    assert_eq!(std::fs::read(site.data_file()).unwrap(), rubbish);
}

#[tokio::test]
async fn a_data_file_that_was_cut_or_scribbled_over_is_an_error_and_no_panic() {
    let site = Site::new("");
    let people: Vec<_> = (1..=500).map(|uid| Person::new(uid, "Asia/Tokyo")).collect();
    site.settle(&people, DAY).await;
    let whole = std::fs::read(site.data_file()).unwrap();
    let scribble = |from: usize, to: usize| {
        let mut bytes = whole.clone();
        bytes[from..to].fill(0xa5);
        bytes
    };
    for (what, bytes) in [
        ("cut to half", whole[..whole.len() / 2].to_vec()),
        ("cut to a hundred bytes", whole[..100].to_vec()),
        ("another head", scribble(0, 64)),
        ("another head behind the magic number", scribble(64, 320)),
    ] {
        std::fs::write(site.data_file(), bytes).unwrap();
        let done = site.command(&LIST).await;
        assert!(done.code == Some(1) && done.stderr.contains("stepcast.redb"), "{what}: {done}");
        assert!(!done.stderr.contains("panicked"), "{what}: {done}");
    }
}

/// The head is good and nothing else is: the engine notices only when it follows a pointer into the rubbish.
#[tokio::test]
async fn a_data_file_with_a_good_head_and_nothing_behind_it_is_an_error_that_names_it() {
    let site = Site::new("");
    let people: Vec<_> = (1..=500).map(|uid| Person::new(uid, "Asia/Tokyo")).collect();
    site.settle(&people, DAY).await;
    let mut bytes = std::fs::read(site.data_file()).unwrap();
    bytes[4_096..].fill(0xa5);
    std::fs::write(site.data_file(), bytes).unwrap();
    for command in [&LIST[..], &["run"], &["night", "run", "--campaign", "nightly"]] {
        let done = site.command(command).await;
        assert!(done.code == Some(1) && done.stderr.contains("stepcast.redb"), "{done}");
    }
}
