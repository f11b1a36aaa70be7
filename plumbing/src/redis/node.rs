use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ::redis::{Pipeline, RedisError, ServerErrorKind, Value, aio::MultiplexedConnection};
use deadpool_redis::{Connection, Pool, PoolError};
use tokio::time::{Instant, timeout_at};

use super::{address::Address, dialler::Dialler, seats::Seats};

/// One server, and the connections to it.
///
/// Calls share a few connections, each with any number of answers outstanding. They keep to the first of them while it has
/// few: what is sent together goes out and is read in one piece, on both sides. A call that makes the server
/// hold back its answer (`WAIT`) takes one out of the pool for itself, so that it delays nobody else's. When one
/// connection turns out broken, or to lead to a server that is not what it was, all are given up: the next call
/// connects anew, and resolves the name anew.
pub(super) struct Node {
    pub(super) address: Address,
    timeout: Duration,
    pool: Pool,
    lines: Mutex<Lines>,
    seats: Seats,
    /// Held while connecting, so that callers who wait for a connection do not each make one.
    connecting: tokio::sync::Mutex<()>,
}

struct Lines {
    /// Raised when they are given up, so that those who come late with the same fault do not give up the new ones.
    generation: u64,
    open: Vec<Option<Open>>,
}

/// A connection, and when it was last used.
struct Open {
    connection: MultiplexedConnection,
    used: Instant,
}

/// A connection that was not used for so long is not used again: a server or a firewall may have forgotten it.
const IDLE: Duration = Duration::from_secs(20);

/// A call that is given up after so long without an answer casts doubt on its connection.
const SILENT: Duration = Duration::from_secs(1);

/// A call that waits for answers. Whoever has no time left drops it, and then nobody else would find out that the connection is
/// dead: it is the first choice of the next call too.
struct Waiting<'a> {
    node: &'a Node,
    generation: u64,
    since: Instant,
    answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.answered && self.since.elapsed() >= SILENT {
            self.node.give_up(self.generation);
        }
    }
}

/// Why a server gave no answer.
#[derive(Debug)]
pub(super) struct NoAnswer {
    pub(super) why: String,
    /// Whether the connection was found broken, which is how one looks that was cut while nobody used it.
    pub(super) cut: bool,
}

/// Whether a call holds back its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Shared,
    Own,
}

impl Node {
    pub(super) fn new(address: Address, dialler: &Dialler) -> Result<Self, String> {
        Ok(Self {
            timeout: dialler.timeout,
            pool: dialler.pool(&address)?,
            lines: Mutex::new(Lines {
                generation: 0,
                open: (0..dialler.connections).map(|_| None).collect(),
            }),
            seats: Seats::new(dialler.connections),
            connecting: tokio::sync::Mutex::new(()),
            address,
        })
    }

    /// Sends commands and gives the answer to each, which may be an error of the server's.
    pub(super) async fn send(
        &self,
        commands: &Pipeline,
        line: Line,
        deadline: Instant,
    ) -> Result<Vec<Value>, NoAnswer> {
        match line {
            Line::Shared => {
                let seat = self.seats.take();
                let (generation, mut connection) = self.shared(seat.line, deadline).await?;
                let mut waiting = Waiting { node: self, generation, since: Instant::now(), answered: false };
                let answers = self.exchange(&mut connection, commands, deadline).await;
                waiting.answered = true;
                if is_spent(&answers) {
                    self.give_up(generation);
                }
                answers
            }
            Line::Own => {
                let generation = self.lines().generation;
                let mut connection = self.limited(deadline, self.pool.get()).await?.map_err(refused)?;
                let answers = self.exchange(&mut connection, commands, deadline).await;
                if is_spent(&answers) {
                    drop(Connection::take(connection));
                    self.give_up(generation);
                }
                answers
            }
        }
    }

    async fn exchange(
        &self,
        connection: &mut MultiplexedConnection,
        commands: &Pipeline,
        deadline: Instant,
    ) -> Result<Vec<Value>, NoAnswer> {
        let answers = connection.send_packed_commands(commands, 0, commands.len());
        self.limited(deadline, answers).await?.map_err(broken)
    }

    /// A shared connection, and the generation that it is of.
    async fn shared(&self, line: usize, deadline: Instant) -> Result<(u64, MultiplexedConnection), NoAnswer> {
        if let Some(found) = self.open_line(line) {
            return Ok(found);
        }
        let _connecting = self.limited(deadline, self.connecting.lock()).await?;
        if let Some(found) = self.open_line(line) {
            return Ok(found);
        }
        let generation = self.lines().generation;
        let made = match self.limited(deadline, self.pool.get()).await {
            Ok(Ok(made)) => made,
            // who cannot be connected to has lost the other connections too
            Ok(Err(error)) => {
                self.give_up(generation);
                return Err(refused(error));
            }
            Err(late) => {
                self.give_up(generation);
                return Err(late);
            }
        };
        let connection = Connection::take(made);
        let mut lines = self.lines();
        if lines.generation == generation {
            lines.open[line] = Some(Open { connection: connection.clone(), used: Instant::now() });
        }
        Ok((generation, connection))
    }

    fn open_line(&self, line: usize) -> Option<(u64, MultiplexedConnection)> {
        let mut lines = self.lines();
        let open = lines.open[line].as_mut().filter(|open| open.used.elapsed() < IDLE)?;
        open.used = Instant::now();
        let connection = open.connection.clone();
        Some((lines.generation, connection))
    }

    fn give_up(&self, generation: u64) {
        let mut lines = self.lines();
        if lines.generation == generation {
            lines.generation += 1;
            lines.open.iter_mut().for_each(|open| *open = None);
            self.pool.retain(|_, _| false);
        }
    }

    async fn limited<F: Future>(&self, deadline: Instant, what: F) -> Result<F::Output, NoAnswer> {
        let limit = deadline.min(Instant::now() + self.timeout);
        timeout_at(limit, what).await.map_err(|_| late(self.timeout))
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the connection is of no more use: it is broken or silent, or the server behind it is not, or not yet, one
/// that does what it is asked, and the name may lead to another by now.
fn is_spent(answers: &Result<Vec<Value>, NoAnswer>) -> bool {
    use ServerErrorKind::{BusyLoading, MasterDown, ReadOnly};
    let Ok(answers) = answers else { return true };
    answers.iter().any(|answer| match answer {
        Value::ServerError(error) => {
            matches!(error.kind(), Some(BusyLoading | MasterDown | ReadOnly)) || error.code() == "NOAUTH"
        }
        _ => false,
    })
}

fn broken(error: RedisError) -> NoAnswer {
    NoAnswer { cut: error.is_connection_dropped(), why: error.to_string() }
}

fn refused(error: PoolError) -> NoAnswer {
    let why = match error {
        PoolError::Backend(error) => format!("cannot connect: {error}"),
        PoolError::Timeout(_) => "cannot connect within the time limit".to_owned(),
        other => format!("cannot connect: {other}"),
    };
    NoAnswer { why, cut: false }
}

fn late(limit: Duration) -> NoAnswer {
    NoAnswer { why: format!("no answer within {}", crate::Span(limit)), cut: false }
}
