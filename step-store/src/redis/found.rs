use redis::{FromRedisValue, ParsingError, Value};

/// What the write script found against a unit; all empty where it was written. Places count from 0.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Pages of another revision, and their values.
    pub(super) pages: Vec<(usize, Vec<u8>)>,
    /// The watermark that came before, in ms since 1970.
    pub(super) frozen: Option<i64>,
    /// Ids that are known: the group, the place in it.
    pub(super) known: Vec<(usize, usize)>,
    /// Sets of ids without room: the group, how many they hold.
    pub(super) full: Vec<(usize, usize)>,
    /// Users who were erased.
    pub(super) erased: Vec<usize>,
}

impl Found {
    /// Whether the unit was written.
    pub(super) fn nothing(&self) -> bool {
        let listed = self.pages.len() + self.known.len() + self.full.len() + self.erased.len();
        listed == 0 && self.frozen.is_none()
    }
}

impl FromRedisValue for Found {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        read(value)
            .ok_or_else(|| ParsingError::from("the answer to a write of steps is not of its form".to_owned()))
    }
}

fn read(value: Value) -> Option<Found> {
    let Value::Array(lists) = value else { return None };
    let [pages, frozen, known, full, erased] = <[Value; 5]>::try_from(lists).ok()?.map(list);
    let mut found = Found { known: pairs(&known?)?, full: pairs(&full?)?, ..Found::default() };
    for pair in pages?.chunks(2) {
        let [place, Value::BulkString(held)] = pair else { return None };
        found.pages.push((place_of(place)?, held.clone()));
    }
    found.frozen = match frozen?.as_slice() {
        [] => None,
        [Value::Int(frozen)] => Some(*frozen),
        _ => return None,
    };
    found.erased = erased?.iter().map(place_of).collect::<Option<_>>()?;
    Some(found)
}

fn list(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        _ => None,
    }
}

fn pairs(list: &[Value]) -> Option<Vec<(usize, usize)>> {
    let pair = |pair: &[Value]| Some((place_of(pair.first()?)?, place_of(pair.get(1)?)?));
    list.chunks(2).map(pair).collect()
}

fn place_of(value: &Value) -> Option<usize> {
    match value {
        Value::Int(place) => usize::try_from(*place).ok(),
        _ => None,
    }
}
