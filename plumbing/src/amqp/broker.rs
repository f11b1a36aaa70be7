use std::{fmt, sync::Arc, time::Duration};

use lapin::uri::{AMQPAuthority, AMQPQueryString, AMQPScheme, AMQPUri, AMQPUserInfo};
use secrecy::{ExposeSecret, SecretString};

use super::{AmqpError, AmqpSettings, address::Address, tls};

/// The longest that a connection may take, from the first packet to the end of the handshake.
const CONNECT: Duration = Duration::from_secs(10);

/// A broker that connections can be made to. `Debug` does not show the password.
#[derive(Clone)]
pub struct Broker {
    pub(super) address: Address,
    pub(super) tls: Option<Arc<rustls::ClientConfig>>,
    username: String,
    password: SecretString,
    heartbeat: u16,
    limit: Duration,
}

impl Broker {
    /// Checks the settings, and reads the certificates if there are to be some. Speaks to nobody yet.
    pub fn new(settings: &AmqpSettings) -> Result<Self, AmqpError> {
        let mut faults = settings.faults();
        let tls = match Address::parse(&settings.url) {
            Ok(Address { tls: true, .. }) => match tls::client(settings.ca_file.as_deref()) {
                Ok(config) => Some(config),
                Err(fault) => {
                    faults.push(fault);
                    None
                }
            },
            _ => None,
        };
        match Address::parse(&settings.url) {
            Ok(address) if faults.is_empty() => Ok(Self {
                address,
                tls,
                username: settings.username.clone(),
                password: settings.password.clone().unwrap_or_else(|| SecretString::from("guest")),
                heartbeat: u16::try_from(settings.heartbeat.0.as_secs()).unwrap_or(u16::MAX),
                limit: settings.confirm_timeout.0,
            }),
            _ => Err(AmqpError::Settings(faults)),
        }
    }

    /// Where it is, for people.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The longest that an answer is waited for.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The longest that a connection may take.
    pub(super) fn connect_limit(&self) -> Duration {
        CONNECT.min(self.limit)
    }

    /// What the library is told of it. It does not dial by this.
    pub(super) fn uri(&self) -> AMQPUri {
        AMQPUri {
            scheme: if self.address.tls { AMQPScheme::AMQPS } else { AMQPScheme::AMQP },
            authority: AMQPAuthority {
                userinfo: AMQPUserInfo {
                    username: self.username.clone(),
                    password: self.password.expose_secret().to_owned(),
                },
                host: self.address.host.clone(),
                port: self.address.port,
            },
            vhost: self.address.vhost.clone(),
            query: AMQPQueryString { heartbeat: Some(self.heartbeat), ..AMQPQueryString::default() },
        }
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker").field("address", &self.address).finish_non_exhaustive()
    }
}
