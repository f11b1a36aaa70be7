use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{ChannelName, Instant, Uid, Zone};
use plumbing::StoreError;

use super::{
    HEAD, MOST_CHANNELS, Page, VERSION,
    bad::BadPage,
    body::{self, Line, MOST_USERS},
    names::Names,
    place,
};
use crate::{Moved, Refusal, RosterRow, User, horizon::Horizon};

/// A page that is being changed. Of all its rows, those that stay as they are too, it forgets what is too old to be kept.
pub(crate) struct Sheet {
    number: u32,
    horizon: Horizon,
    stamp: Option<u64>,
    channels: Vec<ChannelName>,
    rows: BTreeMap<u64, Row>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Row {
    zone: Zone,
    consent: bool,
    /// Bit i stands for the sheet's `channels[i]`.
    channels: u16,
    /// Minutes since 1970; 0 when it is too long ago to matter.
    due_from: u32,
    moved: Option<Moved>,
}

impl Sheet {
    /// The page with this number, which is not there yet if nobody is in it.
    pub(crate) fn open(number: u32, page: Option<&Page>, horizon: Horizon) -> Result<Self, StoreError> {
        let Some(page) = page else { return Ok(Self::empty(number, horizon)) };
        let view = page.view()?;
        let names = view.names;
        let row = |line: Line| {
            let (consent, channels) = names.kind(line.kind)?;
            let moved = match line.moved {
                Some(moved) => Some(names.moved(moved)?),
                None => None,
            };
            let zone = names.zone(line.zone)?;
            let due_from = horizon.due_from(line.due_from);
            Some((line.key, Row { zone, consent, channels, due_from, moved }))
        };
        let rows: Option<_> = view.body.map(row).collect();
        let rows = rows.ok_or_else(|| super::bad(number, &BadPage::Field("a row stands for nothing")))?;
        Ok(Self { stamp: Some(view.stamp), channels: names.channels, rows, ..Self::empty(number, horizon) })
    }

    fn empty(number: u32, horizon: Horizon) -> Self {
        Self { number, horizon, stamp: None, channels: Vec::new(), rows: BTreeMap::new() }
    }

    /// The stamp of the page as it was opened; `None` where it was not there.
    pub(crate) fn stamp(&self) -> Option<u64> {
        self.stamp
    }

    /// Puts a user's row in; answers whether the page says something else by it, but for what is too old. A refusal leaves
    /// everything as it was.
    pub(crate) fn put(&mut self, user: &User) -> Result<bool, Refusal> {
        let key = self.room_for(user.uid)?;
        let row = Row {
            zone: user.zone,
            consent: user.consent,
            channels: self.bits(user.uid, user.devices.iter().map(|device| &device.channel))?,
            due_from: self.horizon.due_from(minute_from(user.consent_at)),
            moved: user.moved,
        };
        Ok(self.rows.insert(key, row) != Some(row))
    }

    /// A page that is not there yet, with these rows; of rows with the same uid the last one holds.
    ///
    /// # Errors
    /// A row of another page, more users than a page may have, or more channels.
    pub(crate) fn of(number: u32, rows: &[RosterRow], horizon: Horizon) -> Result<Self, Refusal> {
        let mut sheet = Self::empty(number, horizon);
        for from in rows {
            let page = place::page_of(from.uid);
            if page != number {
                return Err(Refusal::new("uid", format!("{} is on page {page}, not on {number}", from.uid)));
            }
            let key = sheet.room_for(from.uid)?;
            let row = Row {
                zone: from.zone,
                consent: from.consent,
                channels: sheet.bits(from.uid, from.channels.iter())?,
                due_from: horizon.due_from(minute_from(from.due_from)),
                moved: from.moved,
            };
            sheet.rows.insert(key, row);
        }
        Ok(sheet)
    }

    /// How many users each zone has, and how many moved out of it.
    pub(crate) fn zones(&self) -> BTreeMap<Zone, (i64, i64)> {
        let mut zones = BTreeMap::<_, (i64, i64)>::new();
        for row in self.rows.values() {
            zones.entry(row.zone).or_default().0 += 1;
            if let Some(moved) = row.moved {
                zones.entry(moved.from).or_default().1 += 1;
            }
        }
        zones
    }

    /// The key of a user, unless the page is full without them.
    fn room_for(&self, uid: Uid) -> Result<u64, Refusal> {
        let key = place::key_of(uid);
        if self.rows.len() >= MOST_USERS && !self.rows.contains_key(&key) {
            let reason = format!("its page has {MOST_USERS} users already, and takes no more");
            return Err(Refusal::new("uid", reason));
        }
        Ok(key)
    }

    /// Takes a user's row out; answers whether it was there.
    pub(crate) fn remove(&mut self, uid: Uid) -> bool {
        self.rows.remove(&place::key_of(uid)).is_some()
    }

    /// The page as it is now, without a stamp; `None` when nobody is left in it.
    pub(crate) fn page(&self) -> Option<Page> {
        if self.rows.is_empty() {
            return None;
        }
        let (names, lines) = self.numbered();
        let mut bytes = vec![VERSION];
        bytes.resize(HEAD, 0);
        names.put(&mut bytes);
        body::put(&mut bytes, &lines);
        Some(Page { number: self.number, bytes })
    }

    /// The rows, with numbers for what stands in them.
    fn numbered(&self) -> (Names, Vec<Line>) {
        let rows = self.rows.values();
        let all = rows.clone().flat_map(|row| [Some(row.zone), row.moved.map(|moved| moved.from)]).flatten();
        let zones: BTreeMap<_, _> = all.map(|zone| (zone.number(), zone)).collect();
        let kinds: BTreeSet<_> = rows.map(|row| (row.consent, row.channels)).collect();
        let used = kinds.iter().fold(0, |bits, (_, channels)| bits | channels);
        let places: HashMap<_, u32> = zones.values().copied().zip(0..).collect();
        let kind_places: HashMap<_, u32> = kinds.iter().copied().zip(0..).collect();
        // nothing is looked up that was not put in above
        let zone = |zone| places.get(&zone).copied().unwrap_or_default();
        let line = |(key, row): (&u64, &Row)| Line {
            key: *key,
            zone: zone(row.zone),
            kind: kind_places.get(&(row.consent, row.channels)).copied().unwrap_or_default(),
            due_from: row.due_from,
            moved: row.moved.map(|moved| (zone(moved.from), moved.last.number())),
        };
        let lines = self.rows.iter().map(line).collect();
        let names = Names {
            zones: zones.into_values().collect(),
            channels: places_in(used).filter_map(|place| self.channels.get(place)).cloned().collect(),
            kinds: kinds.into_iter().map(|(consent, bits)| (consent, closed_up(bits, used))).collect(),
        };
        (names, lines)
    }

    /// Channels of a user as bits of the page. It takes new channels in, and gives up those that nobody else uses when it has
    /// no room left.
    fn bits<'a>(
        &mut self,
        uid: Uid,
        of: impl Iterator<Item = &'a ChannelName> + Clone,
    ) -> Result<u16, Refusal> {
        let known = |channel| self.channels.iter().position(|c| c == channel);
        match of.clone().try_fold(0, |bits, channel| known(channel).map(|place| bits | 1 << place)) {
            Some(bits) => Ok(bits),
            None => self.new_bits(uid, of),
        }
    }

    fn new_bits<'a>(&mut self, uid: Uid, of: impl Iterator<Item = &'a ChannelName>) -> Result<u16, Refusal> {
        let (mut channels, mut bits) = (self.channels.clone(), 0u16);
        let used = self.used_by_others(uid);
        for (i, channel) in of.enumerate() {
            let known = channels.iter().position(|c| c == channel);
            let place = match known {
                Some(place) => place,
                None if channels.len() < usize::from(MOST_CHANNELS) => {
                    channels.push(channel.clone());
                    channels.len() - 1
                }
                None => {
                    let place = places_in(!(used | bits)).next().ok_or_else(|| too_many(i, channel))?;
                    channels[place] = channel.clone();
                    place
                }
            };
            bits |= 1 << place;
        }
        self.channels = channels;
        Ok(bits)
    }

    fn used_by_others(&self, uid: Uid) -> u16 {
        let own = place::key_of(uid);
        self.rows.iter().filter(|(key, _)| **key != own).fold(0, |bits, (_, row)| bits | row.channels)
    }
}

/// The places of the bits that are set.
fn places_in(bits: u16) -> impl Iterator<Item = usize> {
    (0..usize::from(MOST_CHANNELS)).filter(move |place| bits >> place & 1 != 0)
}

/// Some of the bits that are `used`, with no place between those.
fn closed_up(bits: u16, used: u16) -> u16 {
    let new = places_in(used).zip(0..);
    new.filter(|(place, _)| bits >> place & 1 != 0).fold(0, |closed, (_, i)| closed | 1 << i)
}

fn too_many(device: usize, channel: &ChannelName) -> Refusal {
    let reason = format!(
        "{channel} would be one more than the {MOST_CHANNELS} channels on which neighbouring users may have devices"
    );
    Refusal::new(format!("devices[{device}].channel"), reason)
}

/// The first whole minute that is not before an instant, since 1970.
fn minute_from(at: Instant) -> u32 {
    let minutes = at.timestamp().div_euclid(60);
    let begun = at.timestamp().rem_euclid(60) > 0 || at.timestamp_subsec_nanos() > 0;
    u32::try_from(minutes + i64::from(begun)).unwrap_or(if minutes < 0 { 0 } else { u32::MAX })
}
