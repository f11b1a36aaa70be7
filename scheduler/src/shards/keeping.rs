use futures_util::{FutureExt, future::BoxFuture};
use night_ledger::{NightLedger, StoreError};

use super::Shards;

/// Keeps the leases beside something long, without being in its way: that may hold the connection which this waits for, and
/// must go on meanwhile. So whoever does both asks for the end of this one beside that of the other.
pub(crate) struct Keeping<'s> {
    ledger: &'s dyn NightLedger,
    state: State<'s>,
}

enum State<'s> {
    Idle(&'s mut Shards),
    UnderWay(BoxFuture<'s, (&'s mut Shards, Result<(), StoreError>)>),
    /// Between the two, never at rest.
    Moved,
}

impl<'s> Keeping<'s> {
    pub(crate) fn new(shards: &'s mut Shards, ledger: &'s dyn NightLedger) -> Self {
        Self { ledger, state: State::Idle(shards) }
    }

    /// Begins, if it is time and it is not under way.
    pub(crate) fn look(&mut self) {
        let ledger = self.ledger;
        self.state = match std::mem::replace(&mut self.state, State::Moved) {
            State::Idle(shards) if shards.keep_due() => State::UnderWay(
                async move {
                    let end = shards.keep(ledger).await;
                    (shards, end)
                }
                .boxed(),
            ),
            state => state,
        };
    }

    /// The end of what is under way; `None` at once when nothing is. Given up, it goes on at the next call.
    pub(crate) async fn end(&mut self) -> Option<Result<(), StoreError>> {
        let State::UnderWay(under_way) = &mut self.state else { return None };
        let (shards, end) = under_way.await;
        self.state = State::Idle(shards);
        Some(end)
    }
}
