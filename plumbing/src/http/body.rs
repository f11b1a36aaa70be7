use axum::{
    body::Body,
    http::{HeaderMap, StatusCode},
};
use futures_util::StreamExt;

use super::{
    ApiError, Budget,
    budget::Share,
    decoding::{Decoding, Fault},
};

/// A body that was read whole. Its share of the budget goes back with it.
#[derive(Debug)]
pub struct Whole {
    bytes: Vec<u8>,
    _share: Share,
}

/// Reads a body, plain, gzip or zstd. `most` bounds its bytes as they are unpacked, while they come: nothing past it is held. All
/// bodies together keep within the budget.
///
/// # Errors
/// 413 past `most`, 415 for a packing that is not taken, 400 for one that is broken, 503 where the budget is used up.
pub async fn read_body(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    budget: &Budget,
) -> Result<Whole, ApiError> {
    let mut decoding = Decoding::of(headers).map_err(refusal)?;
    let (mut bytes, mut share, mut end) = (Vec::new(), budget.share(), None);
    let mut pieces = body.into_data_stream();
    let mut packed = 0usize;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| ApiError::bad("bad_body", "the body broke off"))?;
        packed = packed.saturating_add(piece.len());
        let mut take = |unpacked: &[u8]| keep(&mut bytes, unpacked, most, &mut share, &mut end);
        decoding.piece(&piece, &mut take).map_err(refusal)?;
        // what unpacks to nothing has its bound too
        if packed > most {
            end = Some(too_large(most));
        }
        if let Some(refused) = end {
            return Err(refused);
        }
    }
    decoding.end(&mut |rest| keep(&mut bytes, rest, most, &mut share, &mut end)).map_err(refusal)?;
    end.map_or(Ok(Whole { bytes, _share: share }), Err)
}

impl Whole {
    /// Its bytes, unpacked.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Keeps some more bytes, unless that is past a bound; whether there is room for more.
fn keep(
    bytes: &mut Vec<u8>,
    more: &[u8],
    most: usize,
    share: &mut Share,
    end: &mut Option<ApiError>,
) -> bool {
    let wanted = bytes.len() + more.len();
    if wanted > most {
        *end = Some(too_large(most));
    } else if !share.grow(wanted) {
        *end = Some(ApiError::busy(std::time::Duration::from_secs(1)));
    } else {
        bytes.extend_from_slice(more);
    }
    end.is_none()
}

fn too_large(most: usize) -> ApiError {
    let message = format!("a body has at most {most} bytes when it is unpacked");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
}

fn refusal(fault: Fault) -> ApiError {
    match fault {
        Fault::Unknown => ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "bad_encoding",
            "content-encoding: gzip or zstd is taken, once, or none",
        ),
        Fault::Broken => {
            ApiError::bad("bad_body", "the body is not what its content-encoding says, or it ends too soon")
        }
    }
}
