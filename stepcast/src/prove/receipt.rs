use std::borrow::Cow;

use domain::{CampaignName, Day, Night, Uid};
use serde::Deserialize;

/// A push as a provider received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// The night of its identity.
    pub(crate) night: Night,
    /// The user.
    pub(crate) uid: Uid,
    /// The mark of a user's second or further device; `None` of the first.
    pub(crate) device: Option<u64>,
}

/// A line of receipts: `{"identity": "nightly.20260607.1001", "at": "..."}`. What else is in it is the provider's.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    identity: Cow<'a, str>,
}

/// Reads a line. The identity is `campaign.day.uid`, and of a user's further devices a dot and 16 hexadecimal digits
/// behind it.
///
/// # Errors
/// What is wrong with the line, as a phrase.
pub(crate) fn read_receipt(line: &[u8]) -> Result<Receipt, String> {
    let Line { identity } =
        serde_json::from_slice(line).map_err(|e| format!("an object with `identity` is wanted: {e}"))?;
    let wrong = || {
        let start: String = identity.chars().take(100).collect();
        format!("identity {start:?}: campaign.day.uid is wanted, and a mark of 16 hexadecimal digits or none")
    };
    let mut parts = identity.split('.');
    let (campaign, day, uid) = (parts.next(), parts.next(), parts.next());
    let campaign: Option<CampaignName> = campaign.and_then(|text| text.parse().ok());
    let day: Option<Day> = day.and_then(|text| text.parse().ok());
    let uid: Option<Uid> = uid.filter(|text| digits(text)).and_then(|text| text.parse().ok());
    let device = match parts.next() {
        None => None,
        Some(mark) => Some(hexadecimal(mark).ok_or_else(wrong)?),
    };
    match (campaign, day, uid, parts.next()) {
        (Some(campaign), Some(day), Some(uid), None) => {
            Ok(Receipt { night: Night { campaign, day }, uid, device })
        }
        _ => Err(wrong()),
    }
}

/// As the sender writes a number: only so one identity has one spelling.
fn digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}

fn hexadecimal(text: &str) -> Option<u64> {
    let small = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let fits = text.len() == 16 && text.bytes().all(small);
    fits.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use domain::Identity;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_the_sender_writes_is_read() {
        let identity = Identity {
            campaign: "nightly".parse().unwrap(),
            uid: Uid(1001),
            day: "20260607".parse().unwrap(),
        };
        let night = Night { campaign: identity.campaign.clone(), day: identity.day };
        let first = format!("{{\"identity\": \"{identity}\", \"at\": \"2026-06-07T20:00:01Z\"}}");
        let second = format!("{{\"identity\": \"{identity}.{:016x}\", \"code\": 200}}", 77);
        let read = |line: &str| read_receipt(line.as_bytes());
        assert_eq!(read(&first), Ok(Receipt { night: night.clone(), uid: Uid(1001), device: None }));
        assert_eq!(read(&second), Ok(Receipt { night, uid: Uid(1001), device: Some(77) }));
    }

    #[test]
    fn what_is_no_receipt_is_refused() {
        for line in [
            "",
            "[]",
            "{}",
            "{\"identity\": 5}",
            "{\"identity\": \"nightly.20260607\"}",
            "{\"identity\": \"nightly.20260231.1\"}",
            "{\"identity\": \"Nightly.20260607.1\"}",
            "{\"identity\": \"nightly.20260607.01\"}",
            "{\"identity\": \"nightly.20260607.+1\"}",
            "{\"identity\": \"nightly.20260607.18446744073709551616\"}",
            "{\"identity\": \"nightly.20260607.1.2\"}",
            "{\"identity\": \"nightly.20260607.1.00000000000000FF\"}",
            "{\"identity\": \"nightly.20260607.1.0000000000000001.\"}",
        ] {
            assert!(read_receipt(line.as_bytes()).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_receipt(&line);
        }

        #[test]
        fn no_identity_makes_it_panic(identity in "\\PC{0,60}") {
            let _ = read_receipt(serde_json::json!({ "identity": identity }).to_string().as_bytes());
        }
    }
}
