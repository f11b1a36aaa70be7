//! The embedded engine.

use std::sync::Arc;

use async_trait::async_trait;
use directory::{Directory, EmbeddedDirectory, StoreError};
use domain::Uid;
use plumbing::{
    File,
    redb::{TableDefinition, WriteTransaction},
};
use tempfile::TempDir;

use crate::engine::Engine;

struct Embedded {
    _folder: TempDir,
    file: Arc<File>,
    directory: Arc<EmbeddedDirectory>,
}

impl Embedded {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let directory = Arc::new(EmbeddedDirectory::open(Arc::clone(&file)).unwrap());
        Self { _folder: folder, file, directory }
    }
}

#[async_trait]
impl Engine for Embedded {
    fn directory(&self) -> Arc<dyn Directory> {
        Arc::clone(&self.directory) as _
    }

    async fn plant_record(&self, uid: Uid, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        let plant = move |to: &WriteTransaction| {
            let users = TableDefinition::<u64, &[u8]>::new("directory.users");
            to.open_table(users)?.insert(uid.0, bytes.as_slice())?;
            Ok(())
        };
        self.file.write(plant).await.unwrap();
    }

    fn rounds(&self) -> usize {
        150
    }

    async fn end(&self) {}
}

crate::engine::all_checks!(Embedded::start());

#[tokio::test]
async fn a_file_from_before_the_pages_is_refused() {
    let engine = Embedded::start().await;
    let old = |to: &WriteTransaction| {
        to.open_table(TableDefinition::<u64, &[u8; 21]>::new("directory.roster"))?;
        Ok(())
    };
    engine.file.write(old).await.unwrap();
    let error = EmbeddedDirectory::open(engine.file).map(|_| ()).unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt { detail, .. } if detail.contains("import")), "{error}");
}
