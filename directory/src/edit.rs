mod write;

use std::collections::BTreeMap;

use domain::{ChannelName, Instant, Uid, Zone};
use plumbing::StoreError;

pub(crate) use self::write::Write;
use crate::{
    Applied, Change, NewUser, User, UserPatch,
    horizon::Horizon,
    page::{Page, place, sheet::Sheet},
    record::Decoder,
};

/// A change to one user.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Put(NewUser),
    Patch(UserPatch),
    Delete(Uid),
    /// Takes a device off that was gone at an instant.
    Drop {
        uid: Uid,
        channel: ChannelName,
        address: String,
        gone_at: Instant,
    },
}

impl Step {
    pub(crate) fn uid(&self) -> Uid {
        match self {
            Self::Put(new) => new.uid,
            Self::Patch(patch) => patch.uid,
            Self::Delete(uid) | Self::Drop { uid, .. } => *uid,
        }
    }
}

impl From<Change> for Step {
    fn from(change: Change) -> Self {
        match change {
            Change::Put(new) => Self::Put(new),
            Change::Delete(uid) => Self::Delete(uid),
        }
    }
}

/// The places of the steps, by the page of their users, in order.
pub(crate) fn by_page(steps: &[Step]) -> BTreeMap<u32, Vec<usize>> {
    let mut pages = BTreeMap::<_, Vec<_>>::new();
    for (place, step) in steps.iter().enumerate() {
        pages.entry(place::page_of(step.uid())).or_default().push(place);
    }
    pages
}

/// Steps on one page and the records in it. Pure: whoever calls reads before and writes after, in one step of the engine.
pub(crate) struct Edit {
    page: u32,
    now: Instant,
    sheet: Sheet,
    records: BTreeMap<Uid, Record>,
    /// How the users in each zone, and those who moved out of it, change in number.
    zones: BTreeMap<Zone, (i64, i64)>,
    /// Whether the page says something else.
    turned: bool,
}

struct Record {
    user: Option<User>,
    changed: bool,
}

impl Edit {
    /// Begins at `now` with a page and its records as they are; those of all users that steps will name must be among them.
    pub(crate) fn open(
        page: u32,
        bytes: Option<Vec<u8>>,
        records: impl IntoIterator<Item = (Uid, Option<Vec<u8>>)>,
        now: Instant,
    ) -> Result<Self, StoreError> {
        let bytes = bytes.map(|bytes| Page::new(page, bytes));
        let sheet = Sheet::open(page, bytes.as_ref(), Horizon::at(now))?;
        let mut decoder = Decoder::default();
        let record = |(uid, bytes): (Uid, Option<Vec<u8>>)| {
            let user = bytes.map(|bytes| decoder.user(uid, &bytes)).transpose()?;
            Ok::<_, StoreError>((uid, Record { user, changed: false }))
        };
        let records = records.into_iter().map(record).collect::<Result<_, _>>()?;
        Ok(Self { page, now, sheet, records, zones: BTreeMap::new(), turned: false })
    }

    /// Takes one step.
    pub(crate) fn step(&mut self, step: &Step) -> Applied {
        let uid = step.uid();
        let old = self.records.get(&uid).and_then(|record| record.user.as_ref());
        match (step, old) {
            (Step::Put(new), old) => match new.check() {
                Ok(()) => self.put(new.over(old, self.now)),
                Err(refusal) => Applied::Refused(refusal),
            },
            (Step::Patch(patch), Some(old)) => {
                let new = patch.on(old, self.now);
                match new.check() {
                    Ok(()) => self.put(new.over(Some(old), self.now)),
                    Err(refusal) => Applied::Refused(refusal),
                }
            }
            (_, None) => Applied::Absent,
            (Step::Delete(_), Some(_)) => {
                self.turned |= self.sheet.remove(uid);
                self.keep(uid, None);
                Applied::Deleted
            }
            (Step::Drop { channel, address, gone_at, .. }, Some(old)) => {
                let mut user = old.clone();
                user.devices.retain(|device| !device.is(channel, address) || device.registered_at > *gone_at);
                self.put(user)
            }
        }
    }

    fn put(&mut self, user: User) -> Applied {
        let old = self.records.get(&user.uid).and_then(|record| record.user.as_ref());
        if old == Some(&user) {
            return Applied::Unchanged;
        }
        let done = if old.is_some() { Applied::Updated } else { Applied::Created };
        match self.sheet.put(&user) {
            Ok(turned) => self.turned |= turned,
            Err(refusal) => return Applied::Refused(refusal),
        }
        self.keep(user.uid, Some(user));
        done
    }

    fn keep(&mut self, uid: Uid, user: Option<User>) {
        self.count(user.as_ref(), 1);
        let record = Record { user, changed: true };
        let old = self.records.insert(uid, record).and_then(|record| record.user);
        self.count(old.as_ref(), -1);
    }

    fn count(&mut self, user: Option<&User>, by: i64) {
        let Some(user) = user else { return };
        self.zones.entry(user.zone).or_default().0 += by;
        if let Some(moved) = user.moved {
            self.zones.entry(moved.from).or_default().1 += by;
        }
    }
}

#[cfg(test)]
mod tests;
