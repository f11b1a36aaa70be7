use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{CampaignName, Day, Uid};

/// (campaign, uid, day): the claim, the message id, the idempotency key and the provider's collapse id in one.
/// Every try of the same push carries the same identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The campaign.
    pub campaign: CampaignName,
    /// The user.
    pub uid: Uid,
    /// The `Day` of the night.
    pub day: Day,
}

impl fmt::Display for Identity {
    /// `nightly.20260607.1001`: at most 32 + 1 + 8 + 1 + 20 = 62 bytes of `a-z0-9-_.`, so that it fits an
    /// `apns-collapse-id` (64 bytes) and an `Idempotency-Key` as it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl Identity {
    /// The same as a text of its own: a push has one, so it is made without the general formatting.
    pub fn text(&self) -> String {
        let (campaign, mut digits) = (self.campaign.as_str(), itoa::Buffer::new());
        let mut text = String::with_capacity(campaign.len() + 1 + 8 + 1 + 20);
        text.push_str(campaign);
        text.push('.');
        // years from 1970 on have four digits
        text.push_str(digits.format(self.day.number()));
        text.push('.');
        text.push_str(digits.format(self.uid.0));
        text
    }

    /// The Web Push topic (RFC 8030, section 5.4: at most 32 characters of the URL-safe base64 alphabet): 27 characters,
    /// base64url of `xxh3_64(campaign)`, the day's number (u32) and the uid (u64), all big-endian.
    pub fn topic(&self) -> String {
        let mut bytes = [0; 20];
        bytes[..8]
            .copy_from_slice(&xxhash_rust::xxh3::xxh3_64(self.campaign.as_str().as_bytes()).to_be_bytes());
        bytes[8..12].copy_from_slice(&self.day.number().to_be_bytes());
        bytes[12..].copy_from_slice(&self.uid.0.to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(campaign: &str, uid: u64) -> Identity {
        Identity { campaign: campaign.parse().unwrap(), uid: Uid(uid), day: "20260607".parse().unwrap() }
    }

    #[test]
    fn the_text_is_readable_and_fits_a_collapse_id() {
        assert_eq!(identity("nightly", 1001).to_string(), "nightly.20260607.1001");
        assert!(identity(&"x".repeat(32), u64::MAX).to_string().len() <= 64);
    }

    #[test]
    fn the_topic_is_fixed_and_fits() {
        let topic = identity("nightly", 1001).topic();
        assert!(
            topic.len() <= 32 && topic.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        );
        assert_eq!(topic, identity("nightly", 1001).topic());
        assert_ne!(topic, identity("nightly", 1002).topic());
        assert_ne!(topic, identity("weekly", 1001).topic());
    }
}
