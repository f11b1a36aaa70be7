use std::collections::{HashMap, HashSet};

use domain::{Day, Uid};

use crate::{ReportId, ids::Epoch};

/// What is known for a unit besides its pages. An engine that cannot look first begins with nothing and learns when what it
/// writes is refused.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    /// The watermark, in ms since 1970.
    pub(crate) frozen: Option<i64>,
    /// Ids of the unit's reports that are stored.
    pub(crate) known: HashSet<(Uid, ReportId)>,
    /// How many ids users have in an epoch; none where it does not say.
    pub(crate) counts: HashMap<(Uid, Epoch), usize>,
    /// Who was erased a moment ago.
    pub(crate) erased: HashSet<Uid>,
}

impl Learnt {
    /// How many ids a user has in the epoch of a `Day`.
    pub(crate) fn ids(&self, uid: Uid, day: Day) -> usize {
        self.counts.get(&(uid, Epoch::of(day))).copied().unwrap_or(0)
    }
}
