//! As much of HTTP/1.1 as a push needs (RFC 9112). By hand, because the tests want to drop a connection at will.

use std::{collections::HashMap, io};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::TcpStream,
};

/// A request as it came; header names in lower case.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) headers: HashMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// More than any push has.
const MOST_BODY: usize = 1 << 20;

/// The next request on a connection; `None` where it ends in good order.
pub(super) async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).ok_or_else(|| bad("no path"))?.to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(bad("ended within the head"));
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    if length > MOST_BODY {
        return Err(bad("too long a body"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Request { path, headers, body }))
}
