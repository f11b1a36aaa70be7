use std::sync::Arc;

use async_trait::async_trait;
use domain::{Day, Uid};
use plumbing::{File, FileError};
use redb::{ReadOnlyTable, ReadableTable, TableDefinition, TableError};

use crate::{Add, Added, MOST_STEPS, StepStore, StoreError};

/// (the day as a number, the uid).
type EntryKey = (u32, u64);

/// One entry a user-day: the key is (the day as the number `20260607`, the uid), the value the steps. Days stand
/// first because a night reads one `Day` for many users, and neighbouring uids share a page of the file.
const ENTRIES: TableDefinition<EntryKey, u32> = TableDefinition::new("steps.entries");

/// The most adds one call may hold.
const MOST_ADDS: usize = 10_000;

/// The step store in the embedded file.
pub struct EmbeddedSteps {
    file: Arc<File>,
}

impl EmbeddedSteps {
    /// The step store of `file`; fails where the file holds something else under its name. Nothing is written.
    pub fn open(file: Arc<File>) -> Result<Self, StoreError> {
        let store = Self { file };
        store.entries()?;
        Ok(store)
    }

    /// A view of the entries as they stand now; `None` before the first write.
    fn entries(&self) -> Result<Option<ReadOnlyTable<EntryKey, u32>>, FileError> {
        match self.file.read()?.open_table(ENTRIES) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[async_trait]
impl StepStore for EmbeddedSteps {
    async fn add(&self, adds: Vec<Add>) -> Result<Vec<Added>, StoreError> {
        if adds.len() > MOST_ADDS {
            return Err(StoreError::Full { what: "a call that adds steps", limit: MOST_ADDS as u64 });
        }
        if adds.is_empty() {
            return Ok(Vec::new());
        }
        let work = move |to: &redb::WriteTransaction| {
            let mut entries = to.open_table(ENTRIES)?;
            adds.iter().map(|add| add_one(&mut entries, *add)).collect()
        };
        Ok(self.file.write(work).await?)
    }

    async fn read(&self, uid: Uid, day: Day) -> Result<u32, StoreError> {
        let Some(entries) = self.entries()? else { return Ok(0) };
        Ok(held(&entries, uid, day)?)
    }

    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<u32>, StoreError> {
        let Some(entries) = self.entries()? else { return Ok(vec![0; uids.len()]) };
        Ok(uids.iter().map(|uid| held(&entries, *uid, day)).collect::<Result<_, _>>()?)
    }
}

fn add_one(entries: &mut redb::Table<'_, EntryKey, u32>, add: Add) -> Result<Added, FileError> {
    let before = held(entries, add.uid, add.day)?;
    match before.checked_add(add.steps).filter(|sum| *sum <= MOST_STEPS) {
        // an add of 0 leaves an entry too: that someone reported is told apart from that nobody did
        Some(sum) => {
            entries.insert((add.day.number(), add.uid.0), sum)?;
            Ok(Added::Stored(sum))
        }
        None => Ok(Added::TooMany),
    }
}

fn held(entries: &impl ReadableTable<EntryKey, u32>, uid: Uid, day: Day) -> Result<u32, FileError> {
    Ok(entries.get((day.number(), uid.0))?.map_or(0, |steps| steps.value()))
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, path::Path};

    use proptest::prelude::*;

    use super::*;

    fn store(folder: &Path) -> EmbeddedSteps {
        EmbeddedSteps::open(Arc::new(File::open(&folder.join("data")).unwrap())).unwrap()
    }

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    fn add(uid: u64, steps: u32) -> Add {
        Add { uid: Uid(uid), day: day("20260607"), steps }
    }

    #[tokio::test]
    async fn absent_reads_0_and_midnight_is_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 0);
        assert_eq!(store.read_many(&[Uid(1), Uid(2)], day("20260607")).await.unwrap(), [0, 0]);
        store.add(vec![add(1, 8_000)]).await.unwrap();
        assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 8_000);
        assert_eq!(store.read(Uid(1), day("20260608")).await.unwrap(), 0);
        assert_eq!(store.read(Uid(1), day("20260606")).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn wide_numbers_come_back_exact_and_absurd_ones_are_refused_whole() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let steps = [65_535, 65_536, 79_396, 200_000, 200_001, 536_876_864, u32::MAX];
        let adds = (0..).zip(steps).map(|(uid, steps)| add(uid, steps)).collect();
        let expected = [
            Added::Stored(65_535),
            Added::Stored(65_536),
            Added::Stored(79_396),
            Added::Stored(200_000),
            Added::TooMany,
            Added::TooMany,
            Added::TooMany,
        ];
        assert_eq!(store.add(adds).await.unwrap(), expected);
        let uids: Vec<_> = (0..7).map(Uid).collect();
        let read = store.read_many(&uids, day("20260607")).await.unwrap();
        assert_eq!(read, [65_535, 65_536, 79_396, 200_000, 0, 0, 0]);
        // full to the brim: one more step is refused, and so is a sum past 32 bits
        assert_eq!(
            store.add(vec![add(3, 1), add(3, u32::MAX), add(3, 0)]).await.unwrap(),
            [Added::TooMany, Added::TooMany, Added::Stored(200_000)]
        );
    }

    #[tokio::test]
    async fn one_call_adds_in_order_and_answers_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let answers =
            store.add(vec![add(9, 150_000), add(9, 60_000), add(9, 50_000), add(u64::MAX, 7)]).await;
        let expected = [Added::Stored(150_000), Added::TooMany, Added::Stored(200_000), Added::Stored(7)];
        assert_eq!(answers.unwrap(), expected);
        let unsorted = [Uid(u64::MAX), Uid(1), Uid(9), Uid(u64::MAX)];
        assert_eq!(store.read_many(&unsorted, day("20260607")).await.unwrap(), [7, 0, 200_000, 7]);
    }

    #[tokio::test]
    async fn a_call_that_is_too_long_stores_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let end = store.add(vec![add(1, 1); 10_001]).await;
        assert!(matches!(end, Err(StoreError::Full { limit: 10_000, .. })), "{end:?}");
        assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 0);
        assert_eq!(store.add(vec![add(1, 1); 10_000]).await.unwrap().len(), 10_000);
        assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 10_000);
    }

    #[test]
    fn what_was_answered_is_there_after_a_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for round in 1..=3u32 {
            let path = folder.path().join("data");
            // the writer thread of the last round lets go of the file a moment after its owner
            let file = std::iter::repeat_with(|| File::open(&path))
                .inspect(|_| std::thread::yield_now())
                .find(|end| !matches!(end, Err(FileError::Locked(_))));
            let store = EmbeddedSteps::open(Arc::new(file.unwrap().unwrap())).unwrap();
            let before = runtime.block_on(store.read(Uid(5), day("20260607"))).unwrap();
            assert_eq!(before, (round - 1) * 40_000);
            runtime.block_on(store.add(vec![add(5, 40_000)])).unwrap();
        }
    }

    #[tokio::test]
    async fn a_file_that_holds_something_else_under_the_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let other: TableDefinition<u64, u64> = TableDefinition::new("steps.entries");
        file.write(move |to| Ok(to.open_table(other)?.insert(1, 1).map(|_| ())?)).await.unwrap();
        assert!(EmbeddedSteps::open(file).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn it_agrees_with_a_plain_map(calls in prop::collection::vec(
            prop::collection::vec((0u64..4, 0u32..3, 0u32..120_000), 0..20), 1..5))
        {
            let folder = tempfile::tempdir().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let store = store(folder.path());
            let mut model = HashMap::<(u64, u32), u64>::new();
            for call in calls {
                let mut expected = Vec::new();
                for (uid, off, steps) in &call {
                    let sum = model.entry((*uid, 20_260_607 + off)).or_default();
                    let next = *sum + u64::from(*steps);
                    if next <= 200_000 { *sum = next; }
                    expected.push(if next <= 200_000 { Added::Stored(u32::try_from(next).unwrap()) }
                        else { Added::TooMany });
                }
                let adds = call.iter().map(|(uid, off, steps)| Add {
                    uid: Uid(*uid), day: Day::from_number(20_260_607 + off).unwrap(), steps: *steps,
                }).collect();
                prop_assert_eq!(runtime.block_on(store.add(adds)).unwrap(), expected);
            }
            for ((uid, number), sum) in model {
                let read = runtime.block_on(store.read(Uid(uid), Day::from_number(number).unwrap())).unwrap();
                prop_assert_eq!(u64::from(read), sum);
            }
        }
    }
}
