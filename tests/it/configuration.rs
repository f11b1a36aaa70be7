use rig::Site;

/// A key that is not known, a number out of range, a channel that is not there.
const THREE_FAULTS: &str = "[sender]\nchunk = 0\nchnk = 5\n[campaigns.nightly]\nchannels = [\"pigeon\"]\n";

#[tokio::test]
async fn every_fault_is_told_and_the_exit_code_is_78() {
    let site = Site::new(THREE_FAULTS);
    let run = ["run"];
    let one_shot = ["night", "run", "--campaign", "nightly"];
    for command in [&["config", "check"][..], &["config", "show"], &run, &one_shot, &["dead", "list"]] {
        let done = site.command(command).await.expect(78);
        let told: Vec<_> = done.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(told.len(), 3, "{done}");
        for setting in ["sender.chunk", "sender.chnk", "campaigns.nightly.channels"] {
            assert_eq!(told.iter().filter(|line| line.starts_with(setting)).count(), 1, "{setting}: {done}");
        }
    }
    assert!(!site.data().exists(), "a start that was refused made a data folder");
}

#[tokio::test]
async fn what_is_no_toml_or_not_there_is_told() {
    let site = Site::new("");
    site.file("stepcast.toml", "data = [");
    let done = site.command(&["config", "check"]).await.expect(78);
    assert!(done.stderr.contains("stepcast.toml"), "{done}");
    std::fs::remove_file(site.path("stepcast.toml")).unwrap();
    let done = site.command(&["config", "check"]).await.expect(78);
    assert!(done.stderr.contains("stepcast.toml"), "{done}");
}

#[tokio::test]
async fn a_sound_one_is_called_so_and_shown_without_secrets() {
    let hook = format!(
        "[channels.hook]\nkind = \"webhook\"\nurl = \"https://push.example.com/\"\nsecret = \"{}\"\n",
        rig::SECRET
    );
    let site = Site::new(&hook);
    site.command(&["config", "check"]).await.expect(0);
    let shown = site.command(&["config", "show"]).await.expect(0);
    assert!(
        shown.stdout.contains("sender.chunk = 100") && shown.stdout.contains("channels.hook.url"),
        "{shown}"
    );
    assert!(!shown.stdout.contains(&rig::SECRET[6..]), "the secret is shown");
}

#[tokio::test]
async fn the_clock_is_moved_in_rehearsals_only() {
    let site = Site::new("");
    let path = site.path("stepcast.toml");
    let text = std::fs::read_to_string(&path).unwrap().replace("rehearsal = true", "rehearsal = false");
    site.file("stepcast.toml", text);
    for option in [["--clock-shift", "1h"], ["--clock-rate", "2"]] {
        let done = site.command(&["run", option[0], option[1]]).await.expect(1);
        assert!(done.stderr.contains("rehearsal"), "{done}");
    }
}
