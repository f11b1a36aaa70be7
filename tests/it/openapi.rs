use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use rig::{Person, Site};

use crate::{BEFORE, DAY};

/// Every kind of request that the description allows, and many that it does not, at the running program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_a_fault_or_outside_the_description() {
    let site = Site::new("");
    let people: Vec<_> = (1..=20).map(|uid| Person::new(uid, "Asia/Tokyo")).collect();
    site.settle(&people, DAY).await;
    let running = site.start(BEFORE).await;
    let scopes = ["--scope", "reports", "--scope", "directory", "--scope", "boards"];
    let key = site.command(&[&["key", "add"], &scopes[..]].concat()).await.expect(0);
    let address = std::fs::read_to_string(site.data().join("ingest.addr")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    let (url, key) = (format!("http://{}", address.trim()), key.stdout.trim().to_owned());
    let asked = tokio::task::spawn_blocking(move || {
        let tool: PathBuf = rig::program().parent().unwrap().join("schemathesis");
        let script = root.join("tests/steps/schemathesis.sh");
        Command::new("bash")
            .arg(script)
            .args([&url, &key])
            .arg(tool)
            .current_dir(std::env::temp_dir())
            .output()
            .unwrap()
    });
    let done = asked.await.unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    if said.contains("skipped: ") {
        // past the capture of the test runner, so that it is seen, and counted by tests/run
        let _ = writeln!(std::io::stderr(), "{}", said.trim());
        return;
    }
    assert!(done.status.success(), "{said}");
    println!("{said}");
    assert!(!running.log().contains("panicked"));
}
