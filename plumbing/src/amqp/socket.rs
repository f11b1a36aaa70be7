use std::{
    io::{self, IoSlice},
    net::Shutdown,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures_io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_util::compat::Compat;

/// What a connection runs over: TCP, bare or with TLS on it. Which one is chosen by the address alone.
pub(super) enum Socket {
    Plain(Compat<TcpStream>),
    Tls(Box<Compat<TlsStream<TcpStream>>>),
}

/// The end of a socket in the hands of somebody else than who reads it. Until it is told to stay, the socket ends with it,
/// and so it does when it is dialled only after that.
#[derive(Debug, Default)]
pub(super) struct Cord {
    tied: Arc<Tied>,
    stays: AtomicBool,
}

/// What whoever dials ties the socket to.
#[derive(Debug, Default)]
pub(super) struct Tied {
    socket: OnceLock<std::net::TcpStream>,
    cut: AtomicBool,
}

impl Cord {
    pub(super) fn tied(&self) -> Arc<Tied> {
        Arc::clone(&self.tied)
    }

    /// From now on the socket does not end with this.
    pub(super) fn stay(&self) {
        self.stays.store(true, Ordering::SeqCst);
    }

    /// Ends the socket, whatever whoever reads it is waiting for.
    pub(super) fn cut(&self) {
        self.tied.cut.store(true, Ordering::SeqCst);
        self.tied.end();
    }

    pub(super) fn is_cut(&self) -> bool {
        self.tied.cut.load(Ordering::SeqCst)
    }
}

impl Drop for Cord {
    fn drop(&mut self) {
        if !self.stays.load(Ordering::SeqCst) {
            self.cut();
        }
    }
}

impl Tied {
    /// Ties a socket, the only one.
    pub(super) fn tie(&self, stream: TcpStream) -> io::Result<TcpStream> {
        let stream = stream.into_std()?;
        if self.socket.set(stream.try_clone()?).is_err() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if self.cut.load(Ordering::SeqCst) {
            self.end();
        }
        TcpStream::from_std(stream)
    }

    fn end(&self) {
        if let Some(socket) = self.socket.get() {
            // one that has ended already is no error
            drop(socket.shutdown(Shutdown::Both));
        }
    }
}

/// Either kind of stream as what both can do.
trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

impl Socket {
    fn stream(self: Pin<&mut Self>) -> Pin<&mut dyn Stream> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream),
            Self::Tls(stream) => Pin::new(stream.as_mut()),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        self.stream().poll_read(cx, into)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.stream().poll_write(cx, from)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write_vectored(cx, from)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_close(cx)
    }
}
