use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use config::Config;
use plumbing::{File, FileError};

/// How long a start waits for a short command that has the file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two tries to open a locked file.
pub(crate) const RETRY: Duration = Duration::from_millis(50);

/// Where the data lies.
pub(crate) fn data_file(config: &Config) -> PathBuf {
    config.data.join("stepcast.redb")
}

/// Opens the data file, and waits up to `patience` for whoever has it: the commands that use it are short.
pub(crate) async fn open_file(path: &Path, patience: Duration) -> Result<File, FileError> {
    let began = Instant::now();
    let mut told = false;
    loop {
        match File::open(path) {
            Err(FileError::Locked(_)) if began.elapsed() < patience => {
                if !told {
                    tracing::info!(file = %path.display(), ?patience, "another stepcast has the data file: waiting for it");
                    told = true;
                }
                tokio::time::sleep(RETRY).await;
            }
            end => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_locked_file_is_waited_for_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let held = File::open(&path).unwrap();
        for patience in [Duration::ZERO, RETRY * 2] {
            let end = open_file(&path, patience).await;
            assert!(matches!(end, Err(FileError::Locked(_))));
        }
        let mut waiting = Box::pin(open_file(&path, Duration::from_secs(60)));
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        drop(held);
        assert!(waiting.await.is_ok());
    }
}
