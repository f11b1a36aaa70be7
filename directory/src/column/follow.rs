#[cfg(test)]
mod tests;

use domain::Instant;
use futures_util::{StreamExt, stream};

use super::{Column, part::Part};
use crate::{Changed, Directory, PARTS, StoreError, horizon::Horizon, page::body::Line};

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
        if self.tables.kinds().len() >= self.stale_at {
            // kinds that nobody is of any more: only loading anew forgets them
            let mut fresh = Self::default();
            let refreshed = fresh.follow(directory, now).await?;
            if refreshed.unreadable == 0 {
                *self = fresh;
                return Ok(refreshed);
            }
            // it would lack the rows of those pages
            self.stale_at = self.stale_at.saturating_mul(2);
        }
        self.follow(directory, now).await
    }

    async fn follow(&mut self, directory: &dyn Directory, now: Instant) -> Result<Refreshed, StoreError> {
        let horizon = Horizon::at(now);
        if self.epoch == 0 {
            self.epoch = horizon.minute();
        }
        let since: Vec<_> = self.parts.iter().map(|part| part.upto).collect();
        let changed = directory.changed(&since).await?;
        if changed.len() != self.parts.len() {
            let detail = format!("{} parts, {PARTS} are wanted", changed.len());
            return Err(StoreError::corrupt("the directory's change log", detail));
        }
        let mut open: Vec<_> = changed.iter().map(|changed| changed.pages.len()).collect();
        let parts = (0..PARTS).zip(&changed);
        parts
            .clone()
            .filter(|(_, changed)| changed.pages.is_empty())
            .for_each(|(part, c)| self.close(part, c));
        let wanted = parts.flat_map(|(part, changed)| changed.pages.chunks(AT_ONCE).map(move |p| (part, p)));
        let mut reads = stream::iter(wanted)
            .map(|(part, numbers)| async move { (part, numbers, directory.pages(part, numbers).await) })
            .buffer_unordered(IN_FLIGHT);
        while let Some((part, numbers, pages)) = reads.next().await {
            for (number, page) in numbers.iter().zip(pages?) {
                match page.map(|page| self.lines(&page, horizon)).transpose() {
                    Ok(lines) => self.put(part, *number, &lines.unwrap_or_default()),
                    Err(error) => {
                        self.unreadable.insert(*number, error);
                    }
                }
            }
            let place = place(part);
            open[place] -= numbers.len();
            if open[place] == 0 {
                self.close(part, &changed[place]);
            }
        }
        drop(reads);
        if !self.loaded {
            self.loaded = true;
            self.parts.iter_mut().for_each(Part::tidy);
            self.stale_at = FEW_KINDS.max(2 * self.tables.kinds().len());
        }
        let whole = changed.iter().filter(|changed| changed.whole).count();
        let pages = changed.iter().map(|changed| changed.pages.len()).sum();
        Ok(Refreshed { pages, whole, unreadable: self.unreadable.len() })
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

fn place(part: u32) -> usize {
    usize::try_from(part).unwrap_or(usize::MAX)
}
