use std::fmt::Write as _;

/// Somebody to push to.
#[derive(Clone, Debug)]
pub struct Person {
    /// Their uid.
    pub uid: u64,
    /// Their zone, a name of the time-zone database.
    pub zone: &'static str,
    /// Whether they opted in; they did so long ago.
    pub consent: bool,
    /// Where a push reaches them.
    pub devices: Vec<Device>,
    /// Their steps of the day; with 0 they have no entry.
    pub steps: u32,
}

/// Where a push reaches somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The channel's name.
    pub channel: &'static str,
    /// The address on it.
    pub address: String,
}

impl Person {
    /// Somebody who opted in, with steps and one device on the channel `hook`.
    pub fn new(uid: u64, zone: &'static str) -> Self {
        let steps = u32::try_from(1_000 + uid % 20_000).unwrap();
        let devices = vec![Device { channel: "hook", address: format!("device-{uid}") }];
        Self { uid, zone, consent: true, devices, steps }
    }

    /// The same without steps.
    pub fn without_steps(self) -> Self {
        Self { steps: 0, ..self }
    }

    /// The same, not opted in.
    pub fn opted_out(self) -> Self {
        Self { consent: false, ..self }
    }

    /// The same with these devices: (channel, address).
    pub fn on(self, devices: &[(&'static str, &str)]) -> Self {
        let devices =
            devices.iter().map(|&(channel, address)| Device { channel, address: address.to_owned() });
        Self { devices: devices.collect(), ..self }
    }
}

/// The file that `import users` takes.
pub(crate) fn users_csv(people: &[Person]) -> String {
    let mut csv = "uid,zone,consent,consent_at,devices\n".to_owned();
    for person in people {
        let devices: Vec<_> = person.devices.iter().map(|d| format!("{}:{}", d.channel, d.address)).collect();
        let (uid, zone, consent, devices) = (person.uid, person.zone, person.consent, devices.join("|"));
        writeln!(csv, "{uid},{zone},{consent},2026-01-01T00:00:00Z,{devices}").unwrap();
    }
    csv
}

/// The file that `import steps` takes.
pub(crate) fn steps_csv(people: &[Person], day: &str) -> String {
    let mut csv = "uid,day,steps\n".to_owned();
    for person in people.iter().filter(|p| p.steps > 0) {
        writeln!(csv, "{},{day},{}", person.uid, person.steps).unwrap();
    }
    csv
}
