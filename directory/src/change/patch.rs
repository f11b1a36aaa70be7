use domain::{Instant, Uid};

use super::{NewDevice, NewUser, UserPatch};
use crate::{Device, User};

impl UserPatch {
    /// One that changes nothing of a user yet.
    pub fn of(uid: Uid) -> Self {
        Self { uid, zone: None, language: None, consent: None, devices: None, device: None, name: None }
    }

    /// The user to put over `old` at `now`.
    pub(crate) fn on(&self, old: &User, now: Instant) -> NewUser {
        NewUser {
            uid: self.uid,
            zone: self.zone.unwrap_or(old.zone),
            region: None,
            language: self.language.clone(),
            consent: self.consent,
            consent_at: None,
            devices: self.devices_on(old, now),
            name: self.name.clone(),
        }
    }

    fn devices_on(&self, old: &User, now: Instant) -> Option<Vec<NewDevice>> {
        let more = self
            .device
            .as_ref()
            .map(|device| NewDevice { registered_at: device.registered_at.or(Some(now)), ..device.clone() });
        if more.is_none() {
            return self.devices.clone();
        }
        let named = || old.devices.iter().map(kept).collect();
        let mut devices: Vec<NewDevice> = self.devices.clone().unwrap_or_else(named);
        // one that is there already is renewed where it stands
        let is = |a: &NewDevice, b: &NewDevice| a.channel == b.channel && a.address == b.address;
        if let Some(more) = more {
            match devices.iter_mut().find(|device| is(device, &more)) {
                Some(twin) => twin.registered_at = twin.registered_at.max(more.registered_at),
                None => devices.push(more),
            }
        }
        Some(devices)
    }
}

fn kept(device: &Device) -> NewDevice {
    NewDevice {
        channel: device.channel.clone(),
        address: device.address.clone(),
        registered_at: Some(device.registered_at),
    }
}
