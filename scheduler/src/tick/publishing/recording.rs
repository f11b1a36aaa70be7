use std::time::Instant as RealInstant;

use futures_util::future::BoxFuture;
use night_ledger::{NightLedger, Raised, StoreError};

use crate::{held_back::HeldBack, plan::Plan};

/// The checkpoint of one seal on its way to the ledger: one at a time, beside the publishing.
pub(super) struct Recording<'l> {
    ledger: &'l dyn NightLedger,
    under_way: Option<BoxFuture<'l, (u32, Result<Raised, StoreError>)>>,
}

impl<'l> Recording<'l> {
    pub(super) fn new(ledger: &'l dyn NightLedger) -> Self {
        Self { ledger, under_way: None }
    }

    /// Whether one is on its way.
    pub(super) fn under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Moves the checkpoint up to all that is in the queue by now.
    pub(super) fn begin(&mut self, plan: &Plan) {
        let (ledger, key, epoch, upto) = (self.ledger, plan.key.clone(), plan.epoch, plan.queued);
        self.under_way = Some(Box::pin(async move { (upto, ledger.checkpoint(&key, epoch, upto).await) }));
    }

    /// The end of the one that is on its way. One that failed is tried again after a while.
    pub(super) async fn end(&mut self, plan: &mut Plan) -> Result<Raised, StoreError> {
        let Some(under_way) = self.under_way.as_mut() else { return Ok(Raised::Yes) };
        let (upto, end) = under_way.await;
        self.under_way = None;
        match &end {
            Ok(Raised::Yes) => plan.confirm(upto),
            Ok(Raised::Outbid(_)) => {}
            Err(error) => {
                let held = HeldBack::new(error.clone(), plan.held_back.as_ref(), RealInstant::now());
                plan.held_back = Some(held);
            }
        }
        end
    }
}
