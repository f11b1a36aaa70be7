//! What a server said over HTTP/2 of a request that it did not answer.

use h2::Reason;

use super::answer::causes;

/// That it did nothing with it, so that it may be sent again at once (RFC 9113, sections 6.8 and 8.7): it refused the stream,
/// or ended the connection in good order before it came to it. Streams that it may have come to end with another error.
pub(super) fn not_taken(error: &reqwest::Error) -> bool {
    causes(error).filter_map(|cause| cause.downcast_ref::<h2::Error>()).any(|said| {
        let refuses = said.is_reset() && said.reason() == Some(Reason::REFUSED_STREAM);
        let goes = said.is_go_away() && said.reason() == Some(Reason::NO_ERROR);
        said.is_remote() && (refuses || goes)
    })
}
