//! What a server said over HTTP/2 of a request that it did not answer.

use h2::Reason;

use super::answer::causes;

/// That it did nothing with it, so that it may be sent again at once (RFC 9113, section 8.7): it refused the stream.
pub(super) fn not_taken(error: &reqwest::Error) -> bool {
    said(error).any(|said| said.is_reset() && said.reason() == Some(Reason::REFUSED_STREAM))
}

/// That it was ending the connection in good order. Which of the requests on it it had come to is not known here.
pub(super) fn going_away(error: &reqwest::Error) -> bool {
    said(error).any(|said| said.is_go_away() && said.reason() == Some(Reason::NO_ERROR))
}

fn said(error: &reqwest::Error) -> impl Iterator<Item = &h2::Error> {
    causes(error).filter_map(|cause| cause.downcast_ref::<h2::Error>()).filter(|error| error.is_remote())
}
