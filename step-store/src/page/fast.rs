use domain::Uid;
use plumbing::varint;

use super::{
    BadPage, USERS,
    form::{VERSION, names, take, take_bytes, total, users},
    slot,
};

/// The number of one user, 0 where there is no entry, straight from a page's bytes. What stands behind the user's row is
/// not looked at.
pub(crate) fn number(bytes: &[u8], uid: Uid) -> Result<u32, BadPage> {
    let mut from = bytes;
    let from = &mut from;
    if take(from)? != VERSION {
        return Err(BadPage("its version is not known"));
    }
    for _ in 0..names(from)? {
        let length = take(from)?;
        take_bytes(from, length.into())?;
    }
    // how many marks each shape has
    let mut shapes = [0u8; USERS];
    for place in 0..usize::from(take(from)?) {
        let marks = take(from)?;
        take_bytes(from, usize::from(marks) * 2)?;
        *shapes.get_mut(place).ok_or(BadPage("it has more shapes than users"))? = marks;
    }
    let (users, slot) = (users(from)?, slot(uid));
    if users & (1 << slot) == 0 {
        return Ok(0);
    }
    for _ in 0..(users & ((1 << slot) - 1)).count_ones() {
        for _ in 0..marks(from, &shapes)? {
            varint::take(from).map_err(|_| BadPage("a total cannot be read"))?;
        }
    }
    let mut number = 0;
    for _ in 0..marks(from, &shapes)? {
        number = number.max(total(from)?);
    }
    Ok(number)
}

fn marks(from: &mut &[u8], shapes: &[u8]) -> Result<u8, BadPage> {
    let marks = shapes.get(usize::from(take(from)?)).copied().filter(|marks| *marks > 0);
    marks.ok_or(BadPage("a row's shape is missing"))
}
