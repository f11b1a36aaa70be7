#[cfg(test)]
mod tests;

use std::sync::{PoisonError, RwLock};

use domain::Instant;
use futures_util::{StreamExt, stream};

use super::{Column, part::Part};
use crate::{Changed, Directory, PARTS, Page, StoreError, horizon::Horizon, page::body::Line};

/// How many pages are read at once.
const AT_ONCE: usize = 64;
/// How many such reads are under way.
const IN_FLIGHT: usize = 8;
/// So many kinds are worth no loading anew.
const FEW_KINDS: usize = 1_024;

/// What a refresh did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// How many pages were read.
    pub pages: usize,
    /// How many of the parts were read whole; all of them the first time.
    pub whole: usize,
    /// How many pages, of those read now or before, could not be made out, and have the rows of before; see
    /// [`Column::unreadable`].
    pub unreadable: usize,
}

impl Column {
    /// Loads the directory the first time, and follows its change log from then on. After an error each page is as it was
    /// or newer, and the next refresh goes on from there. A page that was read and cannot be made out keeps the rows of
    /// before, none the first time, until it is changed, and holds up no other. `now` says what is too old to be kept: nights up to two weeks
    /// before it can be sealed from the column.
    pub async fn refresh(
        &mut self,
        directory: &dyn Directory,
        now: Instant,
    ) -> Result<Refreshed, StoreError> {
        refresh(self, directory, now).await
    }

    /// The same for a column that others read meanwhile: it is locked for a page at a time, and not while the directory is
    /// asked. Not to be called twice at once.
    pub async fn refresh_shared(
        mut column: &RwLock<Self>,
        directory: &dyn Directory,
        now: Instant,
    ) -> Result<Refreshed, StoreError> {
        refresh(&mut column, directory, now).await
    }

    /// Puts a page's rows in the place of those that stood there.
    fn put(&mut self, part: u32, number: u32, lines: &[Line]) {
        self.unreadable.remove(&number);
        let Some(part) = self.parts.get_mut(place(part)) else { return };
        for old in part.page(number).into_iter().flatten() {
            self.users -= 1;
            self.tables.count(old.zone, old.moved.map(|(zone, _)| zone), -1);
        }
        for new in lines {
            self.users += 1;
            self.tables.count(new.zone, new.moved.map(|(zone, _)| zone), 1);
        }
        part.put(number, lines);
    }

    /// Ends the reading of a part.
    fn close(&mut self, part: u32, changed: &Changed) {
        if changed.whole {
            let Some(held) = self.parts.get(place(part)) else { return };
            let gone: Vec<_> = held
                .pages(part)
                .map(|(number, _)| number)
                .filter(|number| changed.pages.binary_search(number).is_err())
                .collect();
            for number in gone {
                self.put(part, number, &[]);
            }
            self.unreadable
                .retain(|number, _| number % PARTS != part || changed.pages.binary_search(number).is_ok());
        }
        if let Some(part) = self.parts.get_mut(place(part)) {
            part.upto = changed.upto;
        }
    }
}

/// A column at hand, or one that others read, too.
trait Held: Send {
    /// Works on it, for a short time.
    fn with<T>(&mut self, work: impl FnOnce(&mut Column) -> T) -> T;
}

impl Held for Column {
    fn with<T>(&mut self, work: impl FnOnce(&mut Column) -> T) -> T {
        work(self)
    }
}

impl Held for &RwLock<Column> {
    fn with<T>(&mut self, work: impl FnOnce(&mut Column) -> T) -> T {
        // each page stands or not: a panic between two leaves no half of one
        work(&mut self.write().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn refresh(
    column: &mut impl Held,
    directory: &dyn Directory,
    now: Instant,
) -> Result<Refreshed, StoreError> {
    if column.with(|column| column.tables.kinds().len() >= column.stale_at) {
        // kinds that nobody is of any more: only loading anew forgets them
        let mut fresh = Column::default();
        let refreshed = follow(&mut fresh, directory, now).await?;
        if refreshed.unreadable == 0 {
            column.with(|column| *column = fresh);
            return Ok(refreshed);
        }
        // it would lack the rows of those pages
        column.with(|column| column.stale_at = column.stale_at.saturating_mul(2));
    }
    follow(column, directory, now).await
}

async fn follow(
    column: &mut impl Held,
    directory: &dyn Directory,
    now: Instant,
) -> Result<Refreshed, StoreError> {
    let horizon = Horizon::at(now);
    let since: Vec<_> = column.with(|column| {
        if column.epoch == 0 {
            column.epoch = horizon.minute();
        }
        column.parts.iter().map(|part| part.upto).collect()
    });
    let changed = directory.changed(&since).await?;
    if changed.len() != since.len() {
        let detail = format!("{} parts, {PARTS} are wanted", changed.len());
        return Err(StoreError::corrupt("the directory's change log", detail));
    }
    let mut open: Vec<_> = changed.iter().map(|changed| changed.pages.len()).collect();
    let parts = (0..PARTS).zip(&changed);
    let unchanged = parts.clone().filter(|(_, changed)| changed.pages.is_empty());
    unchanged.for_each(|(part, changed)| column.with(|column| column.close(part, changed)));
    let wanted = parts.flat_map(|(part, changed)| changed.pages.chunks(AT_ONCE).map(move |p| (part, p)));
    let reads: Vec<_> = wanted.map(|(part, numbers)| read(directory, part, numbers)).collect();
    let mut reads = stream::iter(reads).buffer_unordered(IN_FLIGHT);
    while let Some((part, numbers, pages)) = reads.next().await {
        for (number, page) in numbers.iter().zip(pages?) {
            column.with(|column| match page.map(|page| column.lines(&page, horizon)).transpose() {
                Ok(lines) => column.put(part, *number, &lines.unwrap_or_default()),
                Err(error) => _ = column.unreadable.insert(*number, error),
            });
        }
        let place = place(part);
        open[place] -= numbers.len();
        if open[place] == 0 {
            column.with(|column| column.close(part, &changed[place]));
        }
    }
    drop(reads);
    column.with(|column| {
        if !column.loaded {
            column.loaded = true;
            column.parts.iter_mut().for_each(Part::tidy);
            column.stale_at = FEW_KINDS.max(2 * column.tables.kinds().len());
        }
        let whole = changed.iter().filter(|changed| changed.whole).count();
        let pages = changed.iter().map(|changed| changed.pages.len()).sum();
        Ok(Refreshed { pages, whole, unreadable: column.unreadable.len() })
    })
}

/// Some pages of a part, with their numbers.
async fn read<'a>(
    directory: &'a dyn Directory,
    part: u32,
    numbers: &'a [u32],
) -> (u32, &'a [u32], Result<Vec<Option<Page>>, StoreError>) {
    (part, numbers, directory.pages(part, numbers).await)
}

fn place(part: u32) -> usize {
    usize::try_from(part).unwrap_or(usize::MAX)
}
