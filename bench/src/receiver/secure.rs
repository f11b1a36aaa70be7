use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context;
use axum::serve::Listener;
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// How long a client may take to agree.
const AGREEING: Duration = Duration::from_secs(5);

/// Listens for connections under TLS, on which HTTP/2 is offered first.
pub(super) struct Secure {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Secure {
    /// Under this certificate and key, both PEM files.
    pub(super) fn new(listener: TcpListener, certificate: &Path, key: &Path) -> anyhow::Result<Self> {
        let named = |file: &Path| file.display().to_string();
        let chain = CertificateDer::from_pem_file(certificate).with_context(|| named(certificate))?;
        let key = PrivateKeyDer::from_pem_file(key).with_context(|| named(key))?;
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let builder = builder.with_safe_default_protocol_versions()?.with_no_client_auth();
        let mut config = builder.with_single_cert(vec![chain], key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { listener, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

impl Listener for Secure {
    type Io = TlsStream<TcpStream>;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, from) = Listener::accept(&mut self.listener).await;
            // a connection that cannot be made is the client's to tell
            if stream.set_nodelay(true).is_ok()
                && let Ok(Ok(stream)) = tokio::time::timeout(AGREEING, self.acceptor.accept(stream)).await
            {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}
