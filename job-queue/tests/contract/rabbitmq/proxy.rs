use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinSet,
};

/// What becomes of the bytes between a client and a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// They go through.
    Open,
    /// They are swallowed, and nobody is told.
    BlackHole,
    /// Connections are ended, and new ones too.
    Cut,
}

/// A listener between a client and a broker.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    way: Arc<watch::Sender<Way>>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub(super) async fn before(broker: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let way = Arc::new(watch::Sender::new(Way::Open));
        let mut tasks = JoinSet::new();
        let ways = Arc::clone(&way);
        tasks.spawn(async move {
            let mut pairs = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                if *ways.borrow() == Way::Cut {
                    continue;
                }
                let server = TcpStream::connect(&broker).await.unwrap();
                let (client, server) = (client.into_split(), server.into_split());
                pairs.spawn(pass(client.0, server.1, ways.subscribe()));
                pairs.spawn(pass(server.0, client.1, ways.subscribe()));
            }
        });
        Self { address, way, _tasks: tasks }
    }

    pub(super) fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut way: watch::Receiver<Way>) {
    let mut bytes = vec![0; 1 << 16];
    let now = way.clone();
    let mut open = true;
    loop {
        tokio::select! {
            () = async { drop(way.wait_for(|way| *way == Way::Cut).await) } => return,
            read = from.read(&mut bytes) => {
                let Ok(count @ 1..) = read else { return };
                // what lost some in the middle is not taken up again
                open &= *now.borrow() == Way::Open;
                if open && to.write_all(&bytes[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}
