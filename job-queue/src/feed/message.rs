use bytes::Bytes;
use plumbing::varint;

use crate::StoreError;

/// The most postings of a message, and the most bytes of them together but for one that is larger alone.
pub const MOST_POSTINGS: usize = 1_024;
/// The most bytes of a message's postings.
pub const MOST_MESSAGE: usize = 256 << 10;

const VERSION: u8 = 1;

/// Postings of one part, numbered one after another.
///
/// As bytes: the version (u8, 1), then as unsigned LEB128 varints the part, the number of the first posting, how many there are,
/// and before the bytes of each its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedMessage {
    /// The part.
    pub part: u32,
    /// The number of the first posting.
    pub first: u64,
    /// Their bytes, as the step store made them.
    pub postings: Vec<Bytes>,
}

impl FeedMessage {
    /// Postings of a part, cut into messages that keep within the bounds.
    pub fn cut(part: u32, first: u64, postings: impl IntoIterator<Item = Bytes>) -> Vec<Self> {
        let mut messages: Vec<Self> = Vec::new();
        let mut size = 0;
        for (number, posting) in (first..).zip(postings) {
            let length = posting.len();
            match messages.last_mut() {
                Some(last) if size + length <= MOST_MESSAGE && last.postings.len() < MOST_POSTINGS => {
                    size += length;
                    last.postings.push(posting);
                }
                _ => {
                    size = length;
                    messages.push(Self { part, first: number, postings: vec![posting] });
                }
            }
        }
        messages
    }

    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = vec![VERSION];
        for number in [u64::from(self.part), self.first, self.postings.len() as u64] {
            varint::put(&mut to, number);
        }
        for posting in &self.postings {
            varint::put(&mut to, posting.len() as u64);
            to.extend_from_slice(posting);
        }
        to
    }

    /// From bytes.
    pub fn decode(bytes: impl Into<Bytes>) -> Result<Self, StoreError> {
        read(&bytes.into())
            .ok_or_else(|| StoreError::corrupt("a message of the change feed", "its form is wrong"))
    }
}

fn read(bytes: &Bytes) -> Option<FeedMessage> {
    let (&version, mut from) = bytes.split_first()?;
    let from = &mut from;
    let take = |from: &mut &[u8]| varint::take(from).ok();
    let (part, first, count) = (u32::try_from(take(from)?).ok()?, take(from)?, take(from)?);
    if version != VERSION || count > MOST_POSTINGS as u64 {
        return None;
    }
    let mut postings = Vec::new();
    for _ in 0..count {
        let length = usize::try_from(take(from)?).ok()?;
        let (posting, rest) = from.split_at_checked(length)?;
        postings.push(bytes.slice_ref(posting));
        *from = rest;
    }
    from.is_empty().then_some(FeedMessage { part, first, postings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> FeedMessage {
        let postings = vec![Bytes::from_static(b"one"), Bytes::new(), Bytes::from(vec![7; 300])];
        FeedMessage { part: 63, first: u64::MAX - 5, postings }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let bytes = message().encode();
        assert_eq!(FeedMessage::decode(bytes.clone()).unwrap(), message());
        for end in 0..bytes.len() {
            assert!(FeedMessage::decode(bytes[..end].to_vec()).is_err(), "{end}");
        }
        for bad in
            [&[2, 1, 1, 0][..], &[1, 1, 1, 0, 0], &[1, 1, 1, 0xff, 0xff, 0x7f], &[1, 1, 1, 1, 0xff, 0xff]]
        {
            assert!(FeedMessage::decode(bad.to_vec()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn postings_are_cut_within_the_bounds() {
        let large = Bytes::from(vec![1; MOST_MESSAGE * 2 / 3]);
        let cut = FeedMessage::cut(3, 10, [large.clone(), large.clone(), Bytes::from_static(b"x"), large]);
        let shape: Vec<_> = cut.iter().map(|message| (message.first, message.postings.len())).collect();
        assert_eq!(shape, [(10, 1), (11, 2), (13, 1)]);
        let small = std::iter::repeat_n(Bytes::from_static(b"x"), MOST_POSTINGS + 1);
        assert_eq!(FeedMessage::cut(3, 1, small).len(), 2);
        assert!(FeedMessage::cut(3, 1, []).is_empty());
    }
}
