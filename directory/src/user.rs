use std::fmt;

use domain::{ChannelName, Day, Instant, Language, Region, Uid, Zone};

use crate::Home;

/// The most devices one user may have.
pub const MOST_DEVICES: usize = 16;
/// The longest address of a device, in bytes.
pub const LONGEST_ADDRESS: usize = 2048;
/// The longest name of a user, in characters.
pub const LONGEST_NAME: usize = 200;

/// A user as the directory knows them. Instants are whole milliseconds. `Debug` shows neither name nor address.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// Who.
    pub uid: Uid,
    /// Their zone, once a move has taken hold.
    pub zone: Zone,
    /// Their last move from another zone.
    pub moved: Option<Moved>,
    /// Their home data centre.
    pub region: Region,
    /// The language of their texts.
    pub language: Language,
    /// Whether they want the push.
    pub consent: bool,
    /// When they last opted in; of a user who never did, when the record was made.
    pub consent_at: Instant,
    /// Where a push reaches them, in the order given. At most [`MOST_DEVICES`], each (channel, address) once.
    pub devices: Vec<Device>,
    /// What they are called; may be empty. At most [`LONGEST_NAME`] characters.
    pub name: String,
}

/// A move from one zone to another. The `Day`s already begun stay as they are: the new zone holds from the next
/// day start of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The zone before.
    pub from: Zone,
    /// The last `Day` of the zone before.
    pub last: Day,
}

/// A token or address on one channel.
#[derive(Clone, PartialEq, Eq)]
pub struct Device {
    /// The channel.
    pub channel: ChannelName,
    /// The address as the channel's provider knows it: 1 to [`LONGEST_ADDRESS`] bytes, no control characters.
    pub address: String,
    /// When it was registered last.
    pub registered_at: Instant,
}

impl User {
    /// Where their days are.
    pub fn home(&self) -> Home {
        Home { zone: self.zone, moved: self.moved }
    }

    /// The zone that holds for the user on `day`.
    pub fn zone_on(&self, day: Day) -> Zone {
        self.home().zone_on(day)
    }

    /// The zone in force for the user at `at`: the one before, until its last `Day` has ended.
    pub fn zone_at(&self, at: Instant) -> Zone {
        match self.moved {
            Some(moved) if moved.holds_from().is_some_and(|start| at < start) => moved.from,
            _ => self.zone,
        }
    }

    /// For a user who moved, the instant from which the new zone holds: the end of the last `Day` of the old one.
    pub fn holds_from(&self) -> Option<Instant> {
        self.moved.and_then(|moved| moved.holds_from())
    }

    /// The device with this channel and address.
    pub fn device(&self, channel: &ChannelName, address: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.is(channel, address))
    }
}

impl Moved {
    /// The instant from which the new zone holds: the end of the last `Day` of the old one, which is the start of
    /// the next date that the old zone has.
    pub fn holds_from(&self) -> Option<Instant> {
        self.from.edges(self.last).map(|edges| edges.ends)
    }
}

impl Device {
    /// Whether it is the one with this channel and address.
    pub fn is(&self, channel: &ChannelName, address: &str) -> bool {
        self.channel == *channel && self.address == address
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("uid", &self.uid)
            .field("zone", &self.zone)
            .field("moved", &self.moved)
            .field("region", &self.region)
            .field("language", &self.language)
            .field("consent", &self.consent)
            .field("consent_at", &self.consent_at)
            .field("devices", &self.devices)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("channel", &self.channel)
            .field("registered_at", &self.registered_at)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(zone: &str, moved: Option<(&str, &str)>) -> User {
        User {
            uid: Uid(7),
            zone: zone.parse().unwrap(),
            moved: moved
                .map(|(from, last)| Moved { from: from.parse().unwrap(), last: last.parse().unwrap() }),
            region: Region::default(),
            language: Language::default(),
            consent: true,
            consent_at: Instant::UNIX_EPOCH,
            devices: vec![Device {
                channel: "stub".parse().unwrap(),
                address: "secret-token".into(),
                registered_at: Instant::UNIX_EPOCH,
            }],
            name: "Ada Lovelace".into(),
        }
    }

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    #[test]
    fn who_never_moved_is_always_in_their_zone() {
        let user = user("Europe/Berlin", None);
        assert_eq!(user.zone_on("19700101".parse().unwrap()).name(), "Europe/Berlin");
        assert_eq!(user.zone_at(at("2026-06-07T12:00:00Z")).name(), "Europe/Berlin");
        assert_eq!(user.holds_from(), None);
    }

    #[test]
    fn a_move_holds_from_the_next_day_start_of_the_old_zone() {
        // Pago Pago is 11 h behind UTC all year: its 7 June ends at 11:00Z of the 8th
        let user = user("Pacific/Kiritimati", Some(("Pacific/Pago_Pago", "20260607")));
        assert_eq!(user.holds_from(), Some(at("2026-06-08T11:00:00Z")));
        assert_eq!(user.zone_at(at("2026-06-08T10:59:59.999Z")).name(), "Pacific/Pago_Pago");
        assert_eq!(user.zone_at(at("2026-06-08T11:00:00Z")).name(), "Pacific/Kiritimati");
        assert_eq!(user.zone_on("20260607".parse().unwrap()).name(), "Pacific/Pago_Pago");
        assert_eq!(user.zone_on("20260608".parse().unwrap()).name(), "Pacific/Kiritimati");
    }

    /// Samoa had no 30 December 2011: the day after its 29th is the 31st, which began at 10:00Z of the 30th.
    #[test]
    fn a_date_that_the_old_zone_skips_does_not_hold_the_move_up() {
        let user = user("Europe/Berlin", Some(("Pacific/Apia", "20111229")));
        assert_eq!(user.holds_from(), Some(at("2011-12-30T10:00:00Z")));
    }

    #[test]
    fn a_log_line_shows_neither_name_nor_address() {
        let shown = format!("{:?}", user("Europe/Berlin", None));
        assert!(shown.contains("stub") && !shown.contains("secret") && !shown.contains("Ada"), "{shown}");
    }
}
