use domain::{Instant, Zone};

use super::{NewDevice, NewUser};
use crate::{Device, Moved, User};

impl NewUser {
    /// The record after this user is put over `old` at `now`.
    pub(crate) fn over(&self, old: Option<&User>, now: Instant) -> User {
        let (now, consent_at) = (whole_ms(now), self.consent_at.map(whole_ms));
        let (zone, moved) = self.zones(old, now);
        let consent = self.consent.or(old.map(|old| old.consent)).unwrap_or(true);
        // only a step from no consent to consent starts anew
        let kept = old.filter(|old| old.consent || !consent).map(|old| old.consent_at);
        User {
            uid: self.uid,
            zone,
            moved,
            region: self.region.clone().or_else(|| Some(old?.region.clone())).unwrap_or_default(),
            language: self.language.clone().or_else(|| Some(old?.language.clone())).unwrap_or_default(),
            consent,
            consent_at: consent_at.or(kept).unwrap_or(now),
            devices: self.devices_over(old, now),
            name: self.name.clone().or_else(|| Some(old?.name.clone())).unwrap_or_default(),
        }
    }

    fn zones(&self, old: Option<&User>, now: Instant) -> (Zone, Option<Moved>) {
        let Some(old) = old else { return (self.zone, None) };
        if old.zone == self.zone {
            return (old.zone, old.moved);
        }
        let from = old.zone_at(now);
        if from == self.zone {
            // back again before the move took hold: there was none
            return (self.zone, None);
        }
        if let Some(before) = old.moved.filter(|moved| from == old.zone && from.day_at(now) <= moved.last) {
            // moved westward, into a zone that has not come to the end of the `Day` that was the last of the one before: that
            // one was its, so this move takes the place of the other, or the zone now would get that `Day` and push it again
            return (self.zone, Some(before).filter(|moved| moved.from != self.zone));
        }
        // a move that is still waiting keeps its last day even if the clock was set back since
        let waiting = old.moved.filter(|moved| moved.from == from).map(|moved| moved.last);
        let last = from.day_at(now);
        (self.zone, Some(Moved { from, last: waiting.map_or(last, |day| day.max(last)) }))
    }

    fn devices_over(&self, old: Option<&User>, now: Instant) -> Vec<Device> {
        let Some(named) = &self.devices else {
            return old.map(|old| old.devices.clone()).unwrap_or_default();
        };
        let mut devices: Vec<Device> = Vec::with_capacity(named.len());
        for NewDevice { channel, address, registered_at } in named {
            let given = registered_at.map(whole_ms);
            if let Some(twin) = devices.iter_mut().find(|device| device.is(channel, address)) {
                twin.registered_at = twin.registered_at.max(given.unwrap_or(twin.registered_at));
                continue;
            }
            let kept = old.and_then(|old| old.device(channel, address)).map(|device| device.registered_at);
            // `None` is less than any instant: the later of the two that are there
            let registered_at = kept.max(given).unwrap_or(now);
            devices.push(Device { channel: channel.clone(), address: address.clone(), registered_at });
        }
        devices
    }
}

/// An instant cut to the whole millisecond, as records keep it: else a second, equal put would look like a change.
fn whole_ms(at: Instant) -> Instant {
    Instant::from_timestamp_millis(at.timestamp_millis()).unwrap_or(at)
}
