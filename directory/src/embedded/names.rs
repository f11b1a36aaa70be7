use std::{
    collections::{BTreeSet, HashMap},
    hash::Hash,
    str::FromStr,
};

use plumbing::FileError;
use redb::{ReadableTable, Table};

/// A row: the name, how many users stand under it now, how many once did and are still told apart.
pub(super) type Name = (&'static str, u64, u64);

/// A small table of names that the roster refers to by number. Numbers run from 0 without a gap; one whose name
/// nobody uses any more is given away again only when the table is full.
pub(super) struct Names<T> {
    rows: Vec<Row<T>>,
    numbers: HashMap<T, u16>,
    changed: BTreeSet<u16>,
}

#[derive(Clone, Copy, Default)]
struct Row<T> {
    name: T,
    now: u64,
    once: u64,
}

/// Which of a row's two counts.
#[derive(Clone, Copy)]
pub(super) enum Count {
    /// Users who stand under the name now.
    Now,
    /// Users who once did.
    Once,
}

impl<T: Clone + Eq + Hash + FromStr<Err: ToString>> Names<T> {
    /// The whole table; `what` names an entry of it in an error.
    pub(super) fn load(from: &impl ReadableTable<u16, Name>, what: &'static str) -> Result<Self, FileError> {
        let mut names = Self { rows: Vec::new(), numbers: HashMap::new(), changed: BTreeSet::new() };
        for item in from.iter()? {
            let (number, row) = item?;
            let (number, (name, now, once)) = (number.value(), row.value());
            if usize::from(number) != names.rows.len() {
                return Err(FileError::entry(
                    what,
                    format!("number {number} stands where {} is due", names.rows.len()),
                ));
            }
            let name: T = name.parse().map_err(|e: T::Err| FileError::entry(what, e.to_string()))?;
            names.numbers.insert(name.clone(), number);
            names.rows.push(Row { name, now, once });
        }
        Ok(names)
    }

    /// Writes what was changed since it was loaded.
    pub(super) fn save(
        &self,
        to: &mut Table<'_, u16, Name>,
        text: impl Fn(&T) -> &str,
    ) -> Result<(), FileError> {
        for number in &self.changed {
            if let Some(row) = self.rows.get(usize::from(*number)) {
                to.insert(*number, (text(&row.name), row.now, row.once))?;
            }
        }
        Ok(())
    }

    /// Counts one more user under `name`, and answers its number; `None` when that would need more than `most`.
    pub(super) fn take(&mut self, name: &T, count: Count, most: u16) -> Option<u16> {
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => self.allot(name, most)?,
        };
        *self.counter(number, count)? += 1;
        Some(number)
    }

    /// Counts one user less under the name with this number.
    pub(super) fn leave(&mut self, number: u16, count: Count) {
        if let Some(counter) = self.counter(number, count) {
            *counter = counter.saturating_sub(1);
        }
    }

    /// The name with this number.
    pub(super) fn get(&self, number: u16) -> Option<&T> {
        self.rows.get(usize::from(number)).map(|row| &row.name)
    }

    /// The names that some user has or had, with how many have it now.
    pub(super) fn used(self) -> impl Iterator<Item = (T, u64)> {
        self.rows.into_iter().filter(|row| row.now + row.once > 0).map(|row| (row.name, row.now))
    }

    /// All names, by number.
    pub(super) fn into_all(self) -> Vec<T> {
        self.rows.into_iter().map(|row| row.name).collect()
    }

    fn allot(&mut self, name: &T, most: u16) -> Option<u16> {
        let row = Row { name: name.clone(), now: 0, once: 0 };
        let next = u16::try_from(self.rows.len()).ok().filter(|next| *next < most);
        let number = match next {
            Some(next) => {
                self.rows.push(row);
                next
            }
            None => {
                let place = self.rows.iter().position(|row| row.now + row.once == 0)?;
                let old = std::mem::replace(self.rows.get_mut(place)?, row);
                self.numbers.remove(&old.name);
                u16::try_from(place).ok()?
            }
        };
        self.numbers.insert(name.clone(), number);
        Some(number)
    }

    fn counter(&mut self, number: u16, count: Count) -> Option<&mut u64> {
        let row = self.rows.get_mut(usize::from(number))?;
        self.changed.insert(number);
        Some(match count {
            Count::Now => &mut row.now,
            Count::Once => &mut row.once,
        })
    }
}
