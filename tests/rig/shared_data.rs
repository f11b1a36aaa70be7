use std::path::{Path, PathBuf};

/// The folder of public data sets that some tests read: STEPCAST_TEST_DATA, or `shared/data` beside the repository.
/// Where it is absent `skipped` is printed with the test's name, and the test has nothing to do.
pub fn shared_data(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = from_environment("STEPCAST_TEST_DATA").map_or(beside, PathBuf::from);
    if folder.join("graph").is_dir() && folder.join("steps").is_dir() {
        return Some(folder);
    }
    // past the capture of the test runner, so that it is seen, and counted by tests/run
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "skipped: {test}: no data in {}", folder.display());
    None
}

/// A setting of the tests themselves.
#[allow(clippy::disallowed_methods, reason = "a test's own setting, not one of the program's")]
pub fn from_environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
