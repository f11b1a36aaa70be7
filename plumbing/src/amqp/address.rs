use std::fmt;

/// Where a broker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) tls: bool,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) vhost: String,
}

/// The form that is wanted.
const FORM: &str = "amqp://host:port/vhost or amqps://host:port/vhost is wanted";

impl Address {
    /// Reads `amqp://host[:port][/vhost]`, or `amqps://` for TLS. The virtual host is percent-encoded; without one it is
    /// `/`. The error does not repeat the text, which may hold a secret by mistake.
    pub(super) fn parse(url: &str) -> Result<Self, &'static str> {
        let (scheme, rest) = url.split_once("://").ok_or(FORM)?;
        let (tls, port) = match scheme {
            "amqp" => (false, 5672),
            "amqps" => (true, 5671),
            _ => return Err(FORM),
        };
        if rest.contains('@') {
            return Err("user and password do not belong here: they have settings of their own");
        }
        if rest.contains(['?', '#']) {
            return Err("parameters do not belong here: they have settings of their own");
        }
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match place.strip_prefix('[').and_then(|p| p.split_once(']')) {
            Some((host, "")) => (host, port),
            Some((host, rest)) => (host, number(rest.strip_prefix(':').ok_or(FORM)?)?),
            None => match place.rsplit_once(':') {
                Some((host, text)) if !host.contains(':') => (host, number(text)?),
                Some(_) => return Err("an IPv6 address belongs in brackets"),
                None => (place, port),
            },
        };
        if host.is_empty()
            || host.contains(|c: char| c.is_whitespace() || c.is_control() || "[]/".contains(c))
        {
            return Err(FORM);
        }
        let vhost = match path {
            "" => "/".to_owned(),
            path => decoded(path).ok_or("the virtual host is not percent-encoded UTF-8 of 1 to 255 bytes")?,
        };
        Ok(Self { tls, host: host.to_owned(), port, vhost })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port)?,
            false => write!(f, "{}:{}", self.host, self.port)?,
        }
        match self.vhost.as_str() {
            "/" => Ok(()),
            vhost => write!(f, " (virtual host {vhost:?})"),
        }
    }
}

fn number(port: &str) -> Result<u16, &'static str> {
    port.parse().ok().filter(|port| *port != 0).ok_or("the port is a number from 1 to 65535")
}

fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
                bytes.push(digit(rest.next()?)? * 16 + digit(rest.next()?)?);
            }
            b'/' => return None,
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok().filter(|text| (1..=255).contains(&text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> (bool, String, u16, String) {
        let Address { tls, host, port, vhost } = Address::parse(url).unwrap();
        (tls, host, port, vhost)
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        assert_eq!(read("amqp://mq"), (false, "mq".into(), 5672, "/".into()));
        assert_eq!(read("amqps://mq/"), (true, "mq".into(), 5671, "/".into()));
        assert_eq!(read("amqp://127.0.0.1:99/%2f"), (false, "127.0.0.1".into(), 99, "/".into()));
        assert_eq!(read("amqps://[::1]:7/a%20b"), (true, "::1".into(), 7, "a b".into()));
        assert_eq!(read("amqp://[fe80::2]"), (false, "fe80::2".into(), 5672, "/".into()));
    }

    #[test]
    fn what_is_no_address_is_refused_and_not_repeated() {
        for url in [
            "",
            "mq:5672",
            "http://mq",
            "amqp://",
            "amqp://:5",
            "amqp://mq:0",
            "amqp://mq:70000",
            "amqp://mq:x",
            "amqp://::1",
            "amqp://[::1",
            "amqp://[::1]5",
            "amqp://mq/a/b",
            "amqp://mq/%f",
            "amqp://mq/%ff",
            "amqp://m q",
            "amqp://guest:s3cret@mq",
            "amqp://mq?heartbeat=1",
        ] {
            let fault = Address::parse(url).unwrap_err();
            assert!(!fault.contains("s3cret"), "{fault}");
        }
    }
}
