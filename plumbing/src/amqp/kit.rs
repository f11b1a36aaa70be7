use std::{
    io::{self, Read, Write},
    net::SocketAddr,
    time::{Duration, Instant},
};

use async_rs::{
    Tokio,
    traits::{Executor, Reactor, RuntimeKit},
    util::Task,
};
use futures_core::Stream;
use futures_io::{AsyncRead, AsyncWrite};

use super::socket::Socket;

/// The tokio runtime, with our own socket as its stream. The library dials through the connector it is given and never
/// through this, so what would make a bare socket is refused: no path leads from `amqps://` to plain text.
#[derive(Clone, Debug)]
pub(super) struct Kit(pub(super) Tokio);

impl RuntimeKit for Kit {}

impl Executor for Kit {
    type Task<T: Send + 'static> = <Tokio as Executor>::Task<T>;

    fn block_on<T, F: Future<Output = T>>(&self, what: F) -> T {
        self.0.block_on(what)
    }

    fn spawn<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &self,
        what: F,
    ) -> Task<Self::Task<T>> {
        self.0.spawn(what)
    }

    fn spawn_blocking<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        what: F,
    ) -> Task<Self::Task<T>> {
        self.0.spawn_blocking(what)
    }
}

impl Reactor for Kit {
    type TcpStream = Socket;
    type Sleep = <Tokio as Reactor>::Sleep;

    fn register<H: Read + Write + Send + 'static>(
        &self,
        _: H,
    ) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static> {
        Err::<Socket, _>(io::ErrorKind::Unsupported.into())
    }

    fn sleep(&self, time: Duration) -> Self::Sleep {
        self.0.sleep(time)
    }

    fn interval(&self, time: Duration) -> impl Stream<Item = Instant> + Send + 'static {
        self.0.interval(time)
    }

    fn tcp_connect_addr(&self, _: SocketAddr) -> impl Future<Output = io::Result<Socket>> + Send + 'static {
        std::future::ready(Err(io::ErrorKind::Unsupported.into()))
    }
}
