use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use super::free_port;

/// A line between a client and a server that can be cut, silenced and slowed, in the test's process.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    mode: watch::Sender<Mode>,
    target: Arc<Mutex<String>>,
    accepting: JoinHandle<()>,
}

/// What a proxy does with its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Passes everything on.
    Pass,
    /// Passes everything on, each piece so much later.
    Delay(Duration),
    /// Resets every connection and refuses new ones.
    Cut,
    /// Packets vanish, as behind a dead router: connections stand and new ones are taken, but nothing goes through, not even
    /// that an end has closed. What was sent meanwhile arrives when the line is back, as TCP sends it again.
    BlackHole {
        /// Nothing reaches the server.
        up: bool,
        /// Nothing reaches the client.
        down: bool,
    },
}

impl Mode {
    /// Nothing goes through either way.
    pub const SILENT: Self = Self::BlackHole { up: true, down: true };

    fn lets(self, up: bool) -> bool {
        match self {
            Self::Pass | Self::Delay(_) => true,
            Self::Cut => false,
            Self::BlackHole { up: no_up, down: no_down } => !if up { no_up } else { no_down },
        }
    }
}

impl Proxy {
    /// A line to `target`, `HOST:PORT`, that passes everything on.
    pub async fn start(target: String) -> Self {
        let port = free_port();
        let (mode, seen) = watch::channel(Mode::Pass);
        let target = Arc::new(Mutex::new(target));
        // bound here, so that a client that dials at once is not refused
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let accepting = tokio::spawn(accept(Some(listener), port, Arc::clone(&target), seen));
        Self { port, mode, target, accepting }
    }

    /// What it does from now on, with connections that stand as with new ones.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Where new connections lead, as after a name resolves to another server. Those that stand stay where they are.
    pub fn point_to(&self, target: String) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
    }

    /// `127.0.0.1:PORT`, where clients connect.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    mut listener: Option<TcpListener>,
    port: u16,
    target: Arc<Mutex<String>>,
    mut mode: watch::Receiver<Mode>,
) {
    let mut lines = JoinSet::new();
    loop {
        if *mode.borrow_and_update() == Mode::Cut {
            listener = None;
            lines.abort_all();
        } else if listener.is_none() {
            listener = TcpListener::bind(("127.0.0.1", port)).await.ok();
        }
        let next = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = mode.changed() => if changed.is_err() { return },
            accepted = next => {
                let to = target.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Ok((client, _)) = accepted {
                    lines.spawn(line(client, to, mode.clone()));
                }
            }
            Some(_) = lines.join_next() => {}
        }
    }
}

/// One connection, until an end closes it or it is aborted.
async fn line(client: TcpStream, target: String, mut mode: watch::Receiver<Mode>) {
    // a connection that is cut is reset, not closed in good order
    let _ = client.set_zero_linger();
    if mode.wait_for(|mode| mode.lets(true)).await.is_err() {
        return;
    }
    let Ok(address) = target.parse::<SocketAddr>() else { return };
    let Ok(server) = TcpStream::connect(address).await else { return };
    let _ = (server.set_zero_linger(), server.set_nodelay(true), client.set_nodelay(true));
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    // when one way ends the other has nothing left to answer: neither Redis nor AMQP half-closes
    tokio::select! {
        () = pass(from_client, to_server, true, mode.clone()) => {}
        () = pass(from_server, to_client, false, mode.clone()) => {}
    }
}

async fn pass(
    mut from: ReadHalf<TcpStream>,
    mut to: WriteHalf<TcpStream>,
    up: bool,
    mut mode: watch::Receiver<Mode>,
) {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let Ok(lets) = mode.wait_for(|mode| mode.lets(up)).await.map(|mode| *mode) else { return };
        let read = tokio::select! {
            read = from.read(&mut bytes) => read,
            // looks again at the mode: what is silenced is not even read
            changed = mode.changed() => if changed.is_err() { return } else { continue },
        };
        let Ok(length @ 1..) = read else {
            // the end is passed on only where anything is
            let _ = mode.wait_for(|mode| mode.lets(up)).await;
            return;
        };
        if let Mode::Delay(by) = lets {
            tokio::time::sleep(by).await;
        }
        if mode.wait_for(|mode| mode.lets(up)).await.is_err() || to.write_all(&bytes[..length]).await.is_err()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Sends back what it gets.
    async fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = tokio::io::split(stream);
                    tokio::io::copy(&mut from, &mut to).await
                });
            }
        });
        address
    }

    async fn asked(stream: &mut TcpStream, text: &[u8; 4]) -> Option<[u8; 4]> {
        stream.write_all(text).await.ok()?;
        let mut back = [0; 4];
        stream.read_exact(&mut back).await.ok()?;
        Some(back)
    }

    #[tokio::test]
    async fn a_black_hole_says_nothing_and_forgets_nothing_and_a_cut_is_felt_at_once() {
        let proxy = Proxy::start(echo().await).await;
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(asked(&mut stream, b"one.").await, Some(*b"one."));
        proxy.set(Mode::BlackHole { up: false, down: true });
        let silent = tokio::time::timeout(Duration::from_millis(200), asked(&mut stream, b"two.")).await;
        assert!(silent.is_err(), "{silent:?}");
        let _taken = TcpStream::connect(proxy.address()).await.unwrap();
        proxy.set(Mode::Pass);
        let mut back = [0; 4];
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, b"two.");
        proxy.set(Mode::Cut);
        assert_eq!(
            stream.read(&mut back).await.map_err(|e| e.kind()),
            Err(std::io::ErrorKind::ConnectionReset)
        );
        assert!(TcpStream::connect(proxy.address()).await.is_err());
        proxy.set(Mode::Pass);
        let mut again = crate::until("the line to be back", crate::MOST, async || {
            TcpStream::connect(proxy.address()).await.ok()
        })
        .await;
        proxy.point_to(echo().await);
        assert_eq!(asked(&mut again, b"four").await, Some(*b"four"));
    }
}
