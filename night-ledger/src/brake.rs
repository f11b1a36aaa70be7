use std::collections::BTreeMap;

use domain::Zone;

/// What an operator put on a night or on one of its zones. The later one is the stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Brake {
    /// Nothing is pushed until it is taken off.
    Paused,
    /// Nothing is pushed any more.
    Aborted,
}

/// The brakes on a night.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brakes {
    /// On the night as a whole.
    pub whole: Option<Brake>,
    /// On single zones.
    pub zones: BTreeMap<Zone, Brake>,
}

impl Brakes {
    /// The brake that holds for a zone: the stronger of the night's and its own.
    pub fn on(&self, zone: Zone) -> Option<Brake> {
        self.whole.max(self.zones.get(&zone).copied())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.whole.is_none() && self.zones.is_empty()
    }
}

impl Brake {
    /// Its number in the stores.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Paused => 1,
            Self::Aborted => 2,
        }
    }

    /// The brake with this number in the stores.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Paused, Self::Aborted].into_iter().find(|brake| brake.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stronger_brake_holds() {
        let [berlin, paris]: [Zone; 2] = ["Europe/Berlin", "Europe/Paris"].map(|z| z.parse().unwrap());
        let mut brakes = Brakes::default();
        assert!(brakes.is_empty() && brakes.on(berlin).is_none());
        brakes.zones.insert(berlin, Brake::Aborted);
        assert_eq!((brakes.on(berlin), brakes.on(paris)), (Some(Brake::Aborted), None));
        brakes.whole = Some(Brake::Paused);
        assert_eq!((brakes.on(berlin), brakes.on(paris)), (Some(Brake::Aborted), Some(Brake::Paused)));
        assert!(!brakes.is_empty());
    }
}
