use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// How long fetching a peer may take.
const MOST: Duration = Duration::from_secs(300);

/// Celery in a virtual environment of its own; the folder with its scripts.
pub(super) fn celery(program: &Path) -> anyhow::Result<PathBuf> {
    let folder = laid_out(program, "celery", &["requirements.txt", "tasks.py", "enqueue.py"])?;
    if !folder.join("installed").exists() {
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "venv"]);
        fetch(make.current_dir(&folder), "python3 with its venv module (Debian: python3-venv)")?;
        let mut pip = Command::new(folder.join("venv/bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"]);
        fetch(pip.current_dir(&folder), "Celery from PyPI")?;
        fs::write(folder.join("installed"), "")?;
    }
    Ok(folder)
}

/// BullMQ; the folder with its scripts.
pub(super) fn bullmq(program: &Path) -> anyhow::Result<PathBuf> {
    let folder = laid_out(program, "bullmq", &["package.json", "enqueue.js", "work.js"])?;
    if !folder.join("installed").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]);
        fetch(npm.current_dir(&folder), "npm (Debian: npm), and BullMQ from its registry")?;
        fs::write(folder.join("installed"), "")?;
    }
    Ok(folder)
}

/// A folder beside the program, which is below the build's, with the peer's scripts as they are now.
fn laid_out(program: &Path, peer: &str, files: &[&str]) -> anyhow::Result<PathBuf> {
    let program = program.parent().context("the program lies in no folder")?;
    let folder = program.join("peers").join(peer);
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(peer);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for file in files {
        fs::copy(scripts.join(file), folder.join(file)).with_context(|| format!("peers/{peer}/{file}"))?;
    }
    Ok(folder)
}

/// Runs one step of an installation, at most so long.
fn fetch(command: &mut Command, needed: &str) -> anyhow::Result<()> {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let mut child = spawned.with_context(|| format!("{command:?}: {needed} is needed"))?;
    let until = Instant::now() + MOST;
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("{command:?}: {status}; {needed} is needed"),
            None if Instant::now() > until => {
                child.kill()?;
                child.wait()?;
                bail!("{command:?} took more than {MOST:?}; {needed} is needed");
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let error = fetch(&mut Command::new("/nowhere/npm"), "npm").unwrap_err().to_string();
        assert!(error.contains("npm is needed"), "{error}");
        let error = fetch(Command::new("sh").args(["-c", "exit 4"]), "sh").unwrap_err().to_string();
        assert!(error.contains("4") && error.contains("sh is needed"), "{error}");
    }

    #[test]
    fn scripts_lie_beside_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let laid = laid_out(&folder.path().join("stepcast"), "bullmq", &["work.js"]).unwrap();
        assert_eq!(laid, folder.path().join("peers/bullmq"));
        assert!(laid.join("work.js").exists());
    }
}
