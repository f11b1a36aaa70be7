use crate::{
    PARTS, Position,
    page::{
        body::{self, Body, Known, Line},
        place::PAGES,
    },
};

/// No page.
const NONE: u32 = u32::MAX;
/// Numbers in a column's own pages are not looked up while they are read.
const ANY: Known = Known { zones: 1 << 32, kinds: 1 << 32 };

/// The pages of a part, one after another in one piece of memory: a page may be of ten users, and an allocation of its
/// own would cost more than they do.
#[derive(Default)]
pub(super) struct Part {
    /// How far the directory's log was followed.
    pub(super) upto: Position,
    bytes: Vec<u8>,
    /// Where each page begins; empty before the first.
    starts: Vec<u32>,
    /// How many of the bytes belong to no page any more.
    unused: usize,
}

impl Part {
    /// The rows of a page.
    pub(super) fn page(&self, number: u32) -> Option<Body<'_>> {
        self.at(place(number)).map(|(_, body)| body)
    }

    /// The pages that are there, with their numbers. `part` is this part's number.
    pub(super) fn pages(&self, part: u32) -> impl Iterator<Item = (u32, Body<'_>)> + '_ {
        let numbers = (0..PAGES / PARTS).map(move |place| place * PARTS + part);
        numbers.zip(0..self.starts.len()).filter_map(|(number, place)| Some((number, self.at(place)?.1)))
    }

    /// Puts a page in the place of what stood there; one without rows goes.
    pub(super) fn put(&mut self, number: u32, lines: &[Line]) {
        if let Some((length, _)) = self.at(place(number)) {
            self.unused += length;
        }
        if self.starts.is_empty() {
            self.starts = vec![NONE; (PAGES / PARTS) as usize];
        }
        let Some(start) = self.starts.get_mut(place(number)) else { return };
        *start = NONE;
        if !lines.is_empty() {
            *start = u32::try_from(self.bytes.len()).unwrap_or(NONE);
            let mut page = Vec::new();
            body::put(&mut page, lines);
            if self.bytes.capacity() - self.bytes.len() < page.len() {
                // less than doubling: the whole column would have so much room to spare
                self.bytes.reserve_exact(page.len().max(self.bytes.len() / 8));
            }
            self.bytes.extend_from_slice(&page);
        }
        if self.unused > self.bytes.len() / 8 {
            self.tidy();
        }
    }

    /// Gives memory back that is not needed.
    pub(super) fn tidy(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.unused.min(self.bytes.len()));
        let mut starts = self.starts.clone();
        for (place, start) in starts.iter_mut().enumerate() {
            if let Some((length, _)) = self.at(place) {
                let old = self.start(place);
                *start = u32::try_from(bytes.len()).unwrap_or(NONE);
                bytes.extend_from_slice(&self.bytes[old..old + length]);
            }
        }
        (self.bytes, self.starts, self.unused) = (bytes, starts, 0);
    }

    /// How many bytes of memory it takes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity() + self.starts.capacity() * size_of::<u32>()
    }

    fn start(&self, place: usize) -> usize {
        self.starts.get(place).and_then(|start| usize::try_from(*start).ok()).unwrap_or(usize::MAX)
    }

    /// How long the page at a place is, and its rows.
    fn at(&self, place: usize) -> Option<(usize, Body<'_>)> {
        let from = self.bytes.get(self.start(place)..)?;
        let mut left = from;
        // it was written here
        let body = Body::take(&mut left, ANY).ok()?;
        Some((from.len() - left.len(), body))
    }
}

/// The place of a page in its part.
fn place(number: u32) -> usize {
    usize::try_from(number / PARTS).unwrap_or(usize::MAX)
}
