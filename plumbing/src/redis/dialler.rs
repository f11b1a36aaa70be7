use std::{fs, time::Duration};

use ::redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, TlsCertificates,
};
use deadpool_redis::{Manager, Pool, PoolConfig, Runtime, Timeouts};
use secrecy::ExposeSecret;

use super::{address::Address, settings::RedisSettings};

/// Makes the pool of a node: how to log in, what to trust, the limits of time and number.
pub(super) struct Dialler {
    /// Of some node; the others differ by the address.
    pattern: ConnectionInfo,
    pub(super) timeout: Duration,
    pub(super) connections: usize,
}

impl Dialler {
    /// Fails where the file of certificates cannot be used, naming the setting.
    pub(super) fn new(settings: &RedisSettings, some: &Address) -> Result<Self, String> {
        let address = match some.tls {
            true => ConnectionAddr::TcpTls {
                host: some.host.clone(),
                port: some.port,
                insecure: false,
                tls_params: None,
            },
            false => ConnectionAddr::Tcp(some.host.clone(), some.port),
        };
        let info = address.into_connection_info().map_err(|error| format!("urls: {error}"))?;
        let mut login = info.redis_settings().clone();
        if let Some(name) = &settings.username {
            login = login.set_username(name);
        }
        if let Some(password) = &settings.password {
            login = login.set_password(password.expose_secret());
        }
        let mut pattern = info.set_redis_settings(login);
        if let Some(path) = &settings.ca_file {
            let fault = |error: String| format!("ca_file: {}: {error}", path.display());
            let pem = fs::read(path).map_err(|error| fault(error.to_string()))?;
            let trusted = TlsCertificates { client_tls: None, root_cert: Some(pem) };
            let client =
                Client::build_with_tls(pattern, trusted).map_err(|error| fault(error.to_string()))?;
            pattern = client.get_connection_info().clone();
        }
        Ok(Self { pattern, timeout: settings.timeout.0, connections: settings.connections })
    }

    /// A pool that is empty and connects to nothing yet. The name is resolved at each connect.
    pub(super) fn pool(&self, address: &Address) -> Result<Pool, String> {
        let (host, port) = (address.host.clone(), address.port);
        let to = match self.pattern.addr().clone() {
            ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
                ConnectionAddr::TcpTls { host, port, insecure, tls_params }
            }
            _ => ConnectionAddr::Tcp(host, port),
        };
        // the node's own limit of time stands around each answer
        let limits = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(None);
        let manager = Manager::new_with_config(self.pattern.clone().set_addr(to), limits)
            .map_err(|error| error.to_string())?;
        let limit = Some(self.timeout);
        let timeouts = Timeouts { wait: limit, create: limit, recycle: limit };
        Pool::builder(manager)
            .config(PoolConfig { max_size: self.connections, timeouts, ..PoolConfig::default() })
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| error.to_string())
    }
}
