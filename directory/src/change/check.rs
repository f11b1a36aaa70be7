use chrono::Datelike;
use domain::Instant;

use super::{NewUser, Refusal};
use crate::user::{LONGEST_ADDRESS, LONGEST_NAME, MOST_DEVICES};

impl NewUser {
    /// Whether the user keeps within the limits of a record.
    pub fn check(&self) -> Result<(), Refusal> {
        let length = self.name.as_deref().unwrap_or_default().chars().count();
        if length > LONGEST_NAME {
            let reason = format!("{length} characters, at most {LONGEST_NAME} are allowed");
            return Err(Refusal::new("name", reason));
        }
        let devices = self.devices.as_deref().unwrap_or_default();
        if devices.len() > MOST_DEVICES {
            let reason = format!("{} devices, at most {MOST_DEVICES} are allowed", devices.len());
            return Err(Refusal::new("devices", reason));
        }
        check_instant(self.consent_at).map_err(|reason| Refusal::new("consent_at", reason))?;
        for (i, device) in devices.iter().enumerate() {
            let refuse = |field: &str, reason| Refusal::new(format!("devices[{i}].{field}"), reason);
            check_address(&device.address).map_err(|reason| refuse("address", reason))?;
            check_instant(device.registered_at)
                .map_err(|reason| refuse("registered_at", reason.to_owned()))?;
        }
        Ok(())
    }
}

fn check_instant(at: Option<Instant>) -> Result<(), &'static str> {
    let fits = at.is_none_or(|at| (1970..=9999).contains(&at.year()));
    if fits { Ok(()) } else { Err("an instant from 1970 to 9999 is wanted") }
}

fn check_address(address: &str) -> Result<(), String> {
    match address.len() {
        0 => Err("is empty".into()),
        n if n > LONGEST_ADDRESS => Err(format!("{n} bytes, at most {LONGEST_ADDRESS} are allowed")),
        _ if address.chars().any(char::is_control) => Err("holds a control character".into()),
        _ => Ok(()),
    }
}
