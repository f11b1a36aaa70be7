use std::fmt;

/// Where a server is: a name or number, a port, and whether it is spoken to through TLS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub host: String,
    pub port: u16,
    pub tls: bool,
}

impl Address {
    /// Reads `redis://host:port` or `rediss://host:port`. The error does not repeat the text, which may hold a secret.
    pub(super) fn parse(url: &str) -> Result<Self, &'static str> {
        let (tls, rest) = match url.split_once("://") {
            Some(("redis", rest)) => (false, rest),
            Some(("rediss", rest)) => (true, rest),
            _ => return Err("redis://host:port or rediss://host:port is wanted"),
        };
        if rest.contains('@') {
            return Err("user and password do not belong here: they have settings of their own");
        }
        let rest = rest.strip_suffix("/0").or(rest.strip_suffix('/')).unwrap_or(rest);
        if rest.contains(['/', '?', '#']) {
            return Err("a database or parameters do not belong here: keys are told apart by the prefix");
        }
        let (host, port) =
            rest.rsplit_once(':').filter(|(host, _)| !open_bracket(host)).unwrap_or((rest, "6379"));
        Self::with(host, port, tls).ok_or("redis://host:port or rediss://host:port is wanted")
    }

    /// The place of a node, as another node names it; without a host it is the one of the node that speaks.
    pub(super) fn of_node(host: Option<&str>, port: u16, speaker: &Self) -> Self {
        let host = host.filter(|host| !host.is_empty() && *host != "?").unwrap_or(&speaker.host);
        Self { host: host.to_owned(), port, tls: speaker.tls }
    }

    /// The place that a redirection names, `host:port`; `None` where it is not of that form.
    pub(super) fn of_redirection(text: &str, speaker: &Self) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port != 0)?;
        Some(Self::of_node(Some(host), port, speaker))
    }

    fn with(host: &str, port: &str, tls: bool) -> Option<Self> {
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let port = port.parse().ok().filter(|port| *port != 0)?;
        let odd = |c: char| c.is_whitespace() || c.is_control() || "[]".contains(c);
        (!host.is_empty() && !host.contains(odd)).then(|| Self { host: host.to_owned(), port, tls })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// Whether this is the front of an IPv6 number that is not closed yet, so that the `:` after it is part of it.
fn open_bracket(host: &str) -> bool {
    host.contains('[') && !host.contains(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_an_address() {
        let parsed = |url: &str| Address::parse(url).map(|a| (a.to_string(), a.tls)).ok();
        assert_eq!(parsed("redis://a.example:1"), Some(("a.example:1".into(), false)));
        assert_eq!(parsed("rediss://10.0.0.1/"), Some(("10.0.0.1:6379".into(), true)));
        assert_eq!(parsed("redis://[::1]:7000/0"), Some(("[::1]:7000".into(), false)));
        assert_eq!(parsed("redis://[::1]"), Some(("[::1]:6379".into(), false)));
        for bad in ["", "a:1", "http://a:1", "redis://", "redis://:1", "redis://a:0", "redis://a:70000"] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
        for bad in ["redis://a:1/3", "redis://a:1?x=y", "redis://a b:1", "redis+unix:///x"] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
        let fault = Address::parse("redis://me:hunter2@a:1").unwrap_err();
        assert!(!fault.contains("hunter2"), "{fault}");
    }

    #[test]
    fn a_node_that_names_no_host_means_the_one_that_speaks() {
        let speaker = Address::parse("rediss://seed:1").unwrap();
        let named = |text: &str| Address::of_redirection(text, &speaker).map(|a| (a.to_string(), a.tls));
        assert_eq!(named(":7001"), Some(("seed:7001".into(), true)));
        assert_eq!(named("10.0.0.2:7001"), Some(("10.0.0.2:7001".into(), true)));
        assert_eq!(named("fe80::1:7001"), Some(("[fe80::1]:7001".into(), true)));
        assert_eq!(named("10.0.0.2"), None);
        assert_eq!(named("10.0.0.2:0"), None);
        assert_eq!(Address::of_node(None, 5, &speaker).to_string(), "seed:5");
    }
}
