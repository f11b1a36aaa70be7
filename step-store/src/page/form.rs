use plumbing::varint;
use smallvec::SmallVec;

use super::{BadPage, Mark, PAGE, Page, Row};
use crate::{Kind, MOST_SOURCES, MOST_STEPS, Source};

/// The version of the form.
pub(super) const VERSION: u8 = 1;

/// A mark without its total: the source's place and its flags.
type Shape = SmallVec<[(u8, u8); 2]>;

const TOTALS: u8 = 1;
const JUMPED: u8 = 2;

pub(super) fn encode(page: &Page) -> Vec<u8> {
    let mut names = Vec::new();
    let mut shapes: Vec<Shape> = Vec::new();
    let (mut users, mut rows) = (0u32, Vec::with_capacity(page.rows.len() * 8));
    for row in &page.rows {
        users |= 1 << row.slot;
        let shape = row.marks.iter().map(|mark| (place(&mut names, mark.source), flags(mark))).collect();
        rows.push(place(&mut shapes, shape));
        row.marks.iter().for_each(|mark| varint::put(&mut rows, mark.total.into()));
    }
    let mut to = Vec::with_capacity(rows.len() + 64);
    to.push(VERSION);
    varint::put(&mut to, names.len() as u64);
    for name in names {
        let name = page.sources[usize::from(name)].as_str();
        to.push(byte(name.len()));
        to.extend(name.as_bytes());
    }
    to.push(byte(shapes.len()));
    for shape in shapes {
        to.push(byte(shape.len()));
        to.extend(shape.iter().flat_map(|(source, flags)| [*source, *flags]));
    }
    to.extend(users.to_le_bytes());
    to.extend(rows);
    to
}

pub(super) fn decode(bytes: &[u8]) -> Result<Page, BadPage> {
    let mut from = bytes;
    let from = &mut from;
    if take(from)? != VERSION {
        return Err(BadPage("its version is not known"));
    }
    let mut sources = Vec::new();
    for _ in 0..names(from)? {
        let name = name(from)?;
        if sources.contains(&name) {
            return Err(BadPage("it has a name twice"));
        }
        sources.push(name);
    }
    let shapes = (0..take(from)?).map(|_| shape(from, sources.len())).collect::<Result<Vec<_>, _>>()?;
    let users = users(from)?;
    let mut rows = Vec::with_capacity(users.count_ones() as usize);
    for slot in (0..u32::BITS).filter(|slot| users & (1 << slot) != 0) {
        let shape = shapes.get(usize::from(take(from)?)).ok_or(BadPage("a row's shape is missing"))?;
        let mut marks = SmallVec::with_capacity(shape.len());
        for (source, flags) in shape {
            let kind = if flags & TOTALS == 0 { Kind::Increments } else { Kind::Totals };
            marks.push(Mark { source: *source, kind, total: total(from)?, jumped: flags & JUMPED != 0 });
        }
        rows.push(Row { slot: byte(slot as usize), marks });
    }
    if from.is_empty() { Ok(Page { sources, rows }) } else { Err(BadPage("it goes on after its last row")) }
}

/// One byte.
pub(super) fn take(from: &mut &[u8]) -> Result<u8, BadPage> {
    let (first, rest) = from.split_first().ok_or(BadPage("it ends too soon"))?;
    *from = rest;
    Ok(*first)
}

/// So many bytes.
pub(super) fn take_bytes<'a>(from: &mut &'a [u8], count: usize) -> Result<&'a [u8], BadPage> {
    let (taken, rest) = from.split_at_checked(count).ok_or(BadPage("it ends too soon"))?;
    *from = rest;
    Ok(taken)
}

/// How many names there are.
pub(super) fn names(from: &mut &[u8]) -> Result<u64, BadPage> {
    let count = varint::take(from).ok().filter(|count| *count <= PAGE * MOST_SOURCES as u64);
    count.ok_or(BadPage("it has too many names"))
}

/// Which users have rows.
pub(super) fn users(from: &mut &[u8]) -> Result<u32, BadPage> {
    let (bits, rest) = from.split_first_chunk().ok_or(BadPage("it ends too soon"))?;
    *from = rest;
    Ok(u32::from_le_bytes(*bits))
}

/// A source's steps.
pub(super) fn total(from: &mut &[u8]) -> Result<u32, BadPage> {
    let total = varint::take(from).map_err(|_| BadPage("a total cannot be read"))?;
    let total = u32::try_from(total).ok().filter(|total| *total <= MOST_STEPS);
    total.ok_or(BadPage("a total is above the limit"))
}

fn name(from: &mut &[u8]) -> Result<Source, BadPage> {
    let length = take(from)?;
    let name = take_bytes(from, usize::from(length))?;
    let name = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
    name.ok_or(BadPage("a name is none of a source"))
}

fn shape(from: &mut &[u8], sources: usize) -> Result<Shape, BadPage> {
    let count = usize::from(take(from)?);
    if !(1..=MOST_SOURCES).contains(&count) {
        return Err(BadPage("a shape has no sources, or too many"));
    }
    let mut shape = Shape::new();
    for _ in 0..count {
        let (source, flags) = (take(from)?, take(from)?);
        if usize::from(source) >= sources || flags > (TOTALS | JUMPED) {
            return Err(BadPage("a mark of a shape is none"));
        }
        if shape.iter().any(|(other, _)| *other == source) {
            return Err(BadPage("a shape has a source twice"));
        }
        shape.push((source, flags));
    }
    Ok(shape)
}

fn flags(mark: &Mark) -> u8 {
    let totals = if mark.kind == Kind::Totals { TOTALS } else { 0 };
    totals | if mark.jumped { JUMPED } else { 0 }
}

/// The place of a thing among those that are kept once.
fn place<T: PartialEq>(all: &mut Vec<T>, one: T) -> u8 {
    let held = all.iter().position(|held| *held == one);
    byte(held.unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    }))
}

/// Numbers that are below 256: a page has 32 users and 256 names at most, of 32 bytes.
fn byte(number: usize) -> u8 {
    debug_assert!(number < 256 && PAGE <= 32);
    number.to_le_bytes()[0]
}
