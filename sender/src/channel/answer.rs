use std::{pin::pin, time::Duration};

use domain::Instant;
use futures_util::FutureExt;
use reqwest::{Response, StatusCode, header::RETRY_AFTER};

use super::{Fault, http2::not_taken, public_resolver::PrivateName, retry_after};

/// Bytes of an answer's body that are read, for the sake of the connection's next use; nothing is kept of them.
const MOST_BODY: usize = 64 * 1024;

/// How long an answer's body may take once its status is known; past it the connection is given up instead.
const BODY_TIME: Duration = Duration::from_secs(1);

/// What the answer to a push means, by its status (RFC 9110, section 15) and `Retry-After` alone.
pub(super) async fn judge(mut response: Response, now: fn() -> Instant) -> Result<(), Fault> {
    let status = response.status();
    let asked = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok());
    let after = asked.and_then(|text| retry_after::parse(text, now()));
    read_off(&mut response).await;
    by_status(status, after, now)
}

/// What it means that no answer came. A push that surely never left is told apart from one that may have arrived.
pub(super) fn judge_failure(error: &reqwest::Error) -> Fault {
    if causes(error).any(|cause| cause.is::<PrivateName>()) {
        return Fault::Stopped { detail: PrivateName.to_string() };
    }
    if error.is_connect() || not_taken(error) {
        return Fault::Retry { after: None, maybe: false };
    }
    if error.is_builder() {
        return Fault::Refused { detail: "the request could not be made".into() };
    }
    Fault::NoAnswer
}

fn by_status(status: StatusCode, after: Option<Duration>, now: fn() -> Instant) -> Result<(), Fault> {
    let detail = || format!("status {}", status.as_u16());
    Err(match status.as_u16() {
        200..=299 => return Ok(()),
        300..=399 => Fault::Stopped { detail: format!("{}: redirects are not followed", detail()) },
        // the address or the key is wrong for every push alike
        401 | 403 | 404 | 407 => Fault::Stopped { detail: detail() },
        410 => Fault::DeviceGone { since: now() },
        429 => Fault::Throttled { after },
        // a gateway may have passed it on before it gave up
        408 | 425 | 500..=599 => Fault::Retry { after, maybe: true },
        _ => Fault::Refused { detail: detail() },
    })
}

async fn read_off(response: &mut Response) {
    let mut read = pin!(async {
        let mut left = MOST_BODY;
        while let Ok(Some(piece)) = response.chunk().await {
            match left.checked_sub(piece.len()) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    });
    // mostly there is none, or all of it is there
    if read.as_mut().now_or_never().is_none() {
        // the status has decided already: a body that is late or endless changes nothing
        let _ = tokio::time::timeout(BODY_TIME, read).await;
    }
}

/// An error and what it came from.
pub(super) fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |e| e.source())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(status: u16, after: Option<u64>) -> Result<(), Fault> {
        by_status(StatusCode::from_u16(status).unwrap(), after.map(Duration::from_secs), || {
            Instant::UNIX_EPOCH
        })
    }

    #[test]
    fn each_status_is_a_decision() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(judged(status, None), Ok(()), "{status}");
        }
        for status in [300, 301, 302, 304, 307, 308, 401, 403, 404, 407] {
            assert!(matches!(judged(status, None), Err(Fault::Stopped { .. })), "{status}");
        }
        for status in [400, 402, 405, 406, 409, 413, 415, 422, 451, 499, 101, 600] {
            let detail = format!("status {status}");
            assert_eq!(judged(status, Some(9)), Err(Fault::Refused { detail }), "{status}");
        }
        for status in [408, 425, 500, 502, 503, 504, 599] {
            let after = Some(Duration::from_secs(9));
            assert_eq!(judged(status, Some(9)), Err(Fault::Retry { after, maybe: true }), "{status}");
            assert_eq!(judged(status, None), Err(Fault::Retry { after: None, maybe: true }), "{status}");
        }
        assert_eq!(judged(410, None), Err(Fault::DeviceGone { since: Instant::UNIX_EPOCH }));
        assert_eq!(judged(429, Some(120)), Err(Fault::Throttled { after: Some(Duration::from_secs(120)) }));
        assert_eq!(judged(429, None), Err(Fault::Throttled { after: None }));
    }
}
