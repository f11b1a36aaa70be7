use std::{fmt, io, sync::Arc, time::Duration};

use async_rs::{Runtime, Tokio};
use futures_util::StreamExt;
use lapin::{AsyncTcpStream, Channel, Connection, ConnectionProperties, Event, uri::AMQPUri};
use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, sync::watch, time::timeout};
use tokio_rustls::TlsConnector;
use tokio_util::compat::TokioAsyncReadCompatExt;

use super::{
    AmqpError, Broker,
    kit::Kit,
    socket::{Cord, Socket, Tied},
};

/// One connection. It is not mended when it breaks: whoever needs one makes another.
pub struct Link {
    connection: Connection,
    address: String,
    limit: Duration,
    blocked: watch::Receiver<Option<String>>,
    cord: Cord,
}

impl Link {
    /// Makes a connection, called `name` in the broker's lists, within the broker's limit.
    pub async fn open(broker: &Broker, name: &str) -> Result<Self, AmqpError> {
        let (address, limit) = (broker.address(), broker.limit());
        let cord = Cord::default();
        let (dialler, tied) = (broker.clone(), cord.tied());
        let dial = async move |_: AMQPUri, _: Runtime<Kit>| {
            let socket = dialled(&dialler, &tied).await;
            Ok(AsyncTcpStream::Plain(socket?))
        };
        let properties = ConnectionProperties::default().with_connection_name(name.into());
        let connecting =
            Connection::connector(broker.uri(), Runtime::new(Kit(Tokio::current())), dial, properties);
        let connection = match timeout(broker.connect_limit(), connecting).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return Err(AmqpError::Connect { address, detail: error.to_string() }),
            // the cord ends the socket as it is dropped, so that nothing goes on behind the back of whoever gave up
            Err(_) => {
                let (what, limit) = ("a connection", broker.connect_limit());
                return Err(AmqpError::NoAnswer { address, what, limit });
            }
        };
        cord.stay();
        let (tell, blocked) = watch::channel(None);
        let status = connection.status().clone();
        let stands = move || status.connected();
        tokio::spawn(watch_events(address.clone(), connection.events_listener(), stands, tell));
        Ok(Self { connection, address, limit, blocked, cord })
    }

    /// Whether it still stands, as far as is known.
    pub fn alive(&self) -> bool {
        !self.cord.is_cut() && self.connection.status().connected()
    }

    /// Ends it at once, without a farewell: for one that does not answer. What was not acknowledged comes again.
    pub fn cut(&self) {
        self.cord.cut();
    }

    /// Why the broker blocks publishers on it, if it does.
    pub fn blocked(&self) -> Option<AmqpError> {
        let reason = self.blocked.borrow().clone()?;
        Some(AmqpError::Blocked { address: self.address.clone(), reason })
    }

    /// Waits while the broker blocks publishers, at most so long.
    pub async fn unblocked(&self, limit: Duration) -> Result<(), AmqpError> {
        let mut blocked = self.blocked.clone();
        let free = timeout(limit, blocked.wait_for(Option::is_none)).await;
        match free {
            Ok(_) => Ok(()),
            Err(_) => self.blocked().map_or(Ok(()), Err),
        }
    }

    /// A new channel.
    pub async fn channel(&self) -> Result<Channel, AmqpError> {
        self.answer("a channel", self.connection.create_channel()).await
    }

    /// How many channels it may have at a time.
    pub fn most_channels(&self) -> usize {
        match self.connection.configuration().channel_max() {
            0 => usize::from(u16::MAX),
            most => usize::from(most),
        }
    }

    /// What the broker answers, within its limit. A broker that does not answer has its connection cut: what it may still
    /// say to the question must not be taken for the answer to the next one.
    pub async fn answer<T>(
        &self,
        what: &'static str,
        asked: impl Future<Output = lapin::Result<T>>,
    ) -> Result<T, AmqpError> {
        match timeout(self.limit, asked).await {
            Ok(answer) => answer.map_err(|error| AmqpError::refused(what, error)),
            Err(_) => {
                self.cut();
                Err(self.no_answer(what))
            }
        }
    }

    /// That something did not come in time.
    pub fn no_answer(&self, what: &'static str) -> AmqpError {
        AmqpError::NoAnswer { address: self.address.clone(), what, limit: self.limit }
    }

    /// The longest that an answer is waited for.
    pub fn limit(&self) -> Duration {
        self.limit
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("address", &self.address)
            .field("alive", &self.alive())
            .finish_non_exhaustive()
    }
}

/// A socket to the broker, with TLS on it where the address says so.
async fn dialled(broker: &Broker, tied: &Tied) -> io::Result<Socket> {
    let address = &broker.address;
    let dial = async {
        let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        stream.set_nodelay(true)?;
        let stream = tied.tie(stream)?;
        match (&broker.tls, address.tls) {
            (Some(tls), true) => {
                let name = ServerName::try_from(address.host.clone()).map_err(io::Error::other)?;
                let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await?;
                Ok(Socket::Tls(Box::new(stream.compat())))
            }
            (None, false) => Ok(Socket::Plain(stream.compat())),
            _ => Err(io::Error::other("TLS is wanted and not to be had")),
        }
    };
    let limit = broker.connect_limit();
    timeout(limit, dial).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Follows what the broker says of a connection, until it ends. Errors of its AMQP channels are told here too: the
/// connection stands after those, and stays blocked if it was.
async fn watch_events(
    address: String,
    events: impl futures_core::Stream<Item = Event>,
    stands: impl Fn() -> bool,
    blocked: watch::Sender<Option<String>>,
) {
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        match event {
            Event::ConnectionBlocked(reason) => {
                tracing::error!(
                    broker = address,
                    reason,
                    "the broker blocks publishers; waiting until it does no longer"
                );
                blocked.send_replace(Some(reason));
            }
            Event::ConnectionUnblocked => {
                tracing::info!(broker = address, "the broker blocks publishers no longer");
                blocked.send_replace(None);
            }
            Event::Error(error) if stands() => {
                tracing::debug!(broker = address, %error, "a channel of a connection ended");
            }
            Event::Error(error) => {
                tracing::warn!(broker = address, %error, "a connection broke");
                // nobody need wait for it any more
                blocked.send_replace(None);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use lapin::ErrorKind;

    use super::*;

    #[tokio::test]
    async fn only_the_end_of_the_connection_ends_a_block() {
        let low = "low on memory".to_owned();
        for (stands, left) in [(true, Some(low.clone())), (false, None)] {
            let (tell, told) = watch::channel(None);
            let error = ErrorKind::ChannelsLimitReached.into();
            let events = stream::iter([Event::ConnectionBlocked(low.clone()), Event::Error(error)]);
            watch_events("mq".to_owned(), events, || stands, tell).await;
            assert_eq!(*told.borrow(), left, "{stands}");
        }
    }
}
