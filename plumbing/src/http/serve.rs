use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// The bounds of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Listening {
    /// Connections at once; more wait in the system's queue.
    pub connections: usize,
    /// Requests at once on one HTTP/2 connection.
    pub streams: u32,
    /// How long a request in flight may go on after the stop.
    pub drain: Duration,
}

/// The longest that the headers of a request may take; longer than a proxy keeps a connection that it does not use.
const HEADERS: Duration = Duration::from_secs(75);
/// How often an HTTP/2 connection is asked whether it is still there, and how long the answer may take.
const ALIVE: Duration = Duration::from_secs(30);
/// The most bytes of a request's headers.
const MOST_HEADERS: u32 = 16 << 10;
/// The smallest buffer of an HTTP/1 connection that hyper takes is 8 KiB.
const BUFFER: usize = 64 << 10;
/// Pause after a connection could not be taken: there may be no file descriptor left.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves HTTP/1 and HTTP/2 until `stop`, then takes no more connections, lets requests in flight end within the drain
/// limit, and cuts off what is left. Whether nothing was left.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
    bounds: Listening,
) -> bool {
    let (seats, builder) = (Arc::new(Semaphore::new(bounds.connections)), Arc::new(builder(bounds)));
    let (graceful, mut tasks) = (GracefulShutdown::new(), JoinSet::new());
    loop {
        let next = async {
            // it is never closed
            let seat = Arc::clone(&seats).acquire_owned().await.ok();
            (accepted(&listener).await, seat)
        };
        let (stream, seat) = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = tasks.join_next() => continue,
            next = next => next,
        };
        let (builder, watcher, service) =
            (Arc::clone(&builder), graceful.watcher(), TowerToHyperService::new(router.clone()));
        tasks.spawn(async move {
            let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
            if let Err(error) = watcher.watch(connection).await {
                tracing::trace!(%error, "a connection ended badly");
            }
            drop(seat);
        });
    }
    drop(listener);
    let drained = tokio::time::timeout(bounds.drain, graceful.shutdown()).await.is_ok();
    tasks.shutdown().await;
    drained
}

fn builder(bounds: Listening) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(bounds.streams)
        .max_header_list_size(MOST_HEADERS)
        .keep_alive_interval(ALIVE)
        .keep_alive_timeout(ALIVE);
    builder
}

async fn accepted(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // answers are written whole: waiting for more to send only delays them
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) if of_the_peer(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests;
