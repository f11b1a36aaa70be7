use std::{io::Write as _, path::Path, process::Command};

/// The file is valid by the compose schema, and all that it passes to the program exists.
#[test]
fn the_compose_file_passes_nothing_that_does_not_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let script = root.join("tests/steps/compose.sh");
    let done = Command::new("bash").arg(script).arg(rig::program()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    if said.contains("skipped: ") {
        // past the capture of the test runner, so that it is seen, and counted by tests/run
        let _ = writeln!(std::io::stderr(), "{}", said.trim());
    }
}
