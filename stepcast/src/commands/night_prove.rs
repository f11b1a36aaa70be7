#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, bail};
use config::Config;
use domain::{Night, Uid};
use night_ledger::{Claim, State};
use serde_json::{Value, json};

use crate::{
    access::Access,
    cli::NightProve,
    endings::Ending,
    ops::proving::ROW,
    prove::{Count, Difference, Kind, judge, open, read_receipt},
    say::say,
};

/// Differences that are told one by one to a reader; of the others only the number. With `--json` all are told.
const MOST_TOLD: u64 = 2_000;

/// `stepcast night prove`
pub(super) async fn run(config: Config, asked: NightProve) -> anyhow::Result<Ending> {
    let night = Night { campaign: asked.campaign, day: asked.day };
    let access = Access::open(config).await?;
    let proof = prove(&access, night, &asked.receipts, asked.json).await?;
    proof.tell();
    Ok(if proof.differences() == 0 { Ending::Done } else { Ending::Failed })
}

/// Tells each difference as it is found.
async fn prove(access: &Access, night: Night, receipts: &Path, json: bool) -> anyhow::Result<Proof> {
    // before the receipts are read, which may take long: a night that is not there is told at once
    access
        .get(
            "/ops/v1/night/seals",
            &[
                ("campaign", night.campaign.to_string()),
                ("day", night.day.to_string()),
                ("shard", "0".to_owned()),
            ],
        )
        .await?;
    let mut proof = Proof::new(night, json);
    proof.read(receipts).with_context(|| receipts.display().to_string())?;
    proof.walk(access).await?;
    proof.strangers();
    proof.sums(access).await?;
    Ok(proof)
}

/// A proof under way.
struct Proof {
    night: Night,
    json: bool,
    count: Count,
    tally: Tally,
    differences: BTreeMap<Kind, u64>,
}

/// What was looked at.
#[derive(Default)]
struct Tally {
    receipts: u64,
    other_nights: u64,
    due: u64,
    delivered: u64,
    open: u64,
    received: u64,
    repeated: u64,
}

impl Proof {
    fn new(night: Night, json: bool) -> Self {
        Self { night, json, count: Count::default(), tally: Tally::default(), differences: BTreeMap::new() }
    }

    /// Counts the receipts of this night.
    fn read(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut lines = open(path)?;
        while let Some((number, line)) = lines.next()? {
            match line.and_then(read_receipt) {
                Ok(receipt) if receipt.night == self.night => {
                    self.tally.receipts += 1;
                    self.count.note(receipt.uid, receipt.device);
                }
                Ok(_) => self.tally.other_nights += 1,
                Err(wrong) => self.note(Kind::Unreadable, None, format!("line {number}: {wrong}")),
            }
        }
        Ok(())
    }

    /// Holds each user of the night's seals against what was received, seal by seal.
    async fn walk(&mut self, access: &Access) -> anyhow::Result<()> {
        let of_night = format!("campaign={}&day={}", self.night.campaign, self.night.day);
        let (mut shard, mut shards) = (0, 1);
        while shard < shards {
            let seals = access.get_bytes(&format!("/ops/v1/night/seals?{of_night}&shard={shard}")).await?;
            let seals: Value = serde_json::from_slice(&seals)?;
            shards = seals["shards"].as_u64().context("the number of shards is wanted")?;
            for instant in seals["instants"].as_array().into_iter().flatten() {
                let seal = format!("/ops/v1/night/claims?{of_night}&shard={shard}&instant={instant}");
                self.walk_seal(access, &seal).await?;
            }
            shard += 1;
        }
        if self.tally.open > 0 {
            let detail = format!("{} users are neither delivered nor closed yet", self.tally.open);
            self.note(Kind::Open, None, detail);
        }
        Ok(())
    }

    async fn walk_seal(&mut self, access: &Access, seal: &str) -> anyhow::Result<()> {
        let mut from = 0;
        loop {
            let rows = access.get_bytes(&format!("{seal}&from={from}")).await?;
            if rows.is_empty() {
                return Ok(());
            }
            from += rows.len() / ROW;
            for row in rows.chunks(ROW) {
                let Some((uid, [byte])) = row.split_first_chunk::<8>() else {
                    bail!("the claims of a seal end within a user")
                };
                let claim = Claim::from_byte(*byte).with_context(|| format!("{byte:#04x} is no claim"))?;
                self.user(Uid(u64::from_le_bytes(*uid)), claim);
            }
        }
    }

    fn user(&mut self, uid: Uid, claim: Claim) {
        let received = self.count.of(uid);
        self.tally.due += 1;
        self.tally.received += u64::from(received.all > 0);
        self.tally.repeated += u64::from(received.most > 1);
        match claim.state() {
            State::Delivered(_) => self.tally.delivered += 1,
            State::Free(_) | State::Claimed(_) => self.tally.open += 1,
            State::Closed(_) => {}
        }
        if let Some(kind) = judge(claim, received) {
            let times = match kind {
                Kind::Repeated => format!("{} receipts of one identity", received.most),
                _ => format!("{} receipts", received.all),
            };
            self.note(kind, Some(uid), format!("{times}; in the ledger {}", state(claim)));
        }
    }

    /// Whoever received something and was never due.
    fn strangers(&mut self) {
        let count = std::mem::take(&mut self.count);
        for (uid, device) in count.strangers() {
            let device = device.map(|mark| format!(" (device {mark:016x})")).unwrap_or_default();
            self.note(Kind::NotDue, Some(uid), format!("received{device}, and in no seal of this night"));
        }
    }

    /// The night's sums must come to what was due, and be those of the claims.
    async fn sums(&mut self, access: &Access) -> anyhow::Result<()> {
        let of_night = format!("campaign={}&day={}", self.night.campaign, self.night.day);
        let bytes = access.get_bytes(&format!("/ops/v1/night?{of_night}&recount=true")).await?;
        let shown: Value = serde_json::from_slice(&bytes)?;
        if shown["unknown"] != 0 {
            self.note(Kind::Sums, None, format!("{} users are in no term of the sum", shown["unknown"]));
        }
        for (term, walked) in [("due", self.tally.due), ("delivered", self.tally.delivered)] {
            if shown[term] != walked {
                let detail = format!("{term} is {} in the sums, {walked} in the claims", shown[term]);
                self.note(Kind::Sums, None, detail);
            }
        }
        match shown["recount"]["agrees"].as_bool() {
            Some(true) => {}
            Some(false) => {
                self.note(
                    Kind::Sums,
                    None,
                    "the recount from the claims disagrees: see night show".to_owned(),
                );
            }
            None => self.note(Kind::Open, None, "the night went on while it was counted".to_owned()),
        }
        Ok(())
    }

    fn note(&mut self, difference: Kind, uid: Option<Uid>, detail: String) {
        *self.differences.entry(difference).or_default() += 1;
        if self.untold() > 0 {
            return;
        }
        let told = Difference { difference, uid: uid.map(|uid| uid.to_string()), detail };
        if self.json {
            say!("{}", json!(told));
        } else {
            say!("{told}");
        }
    }

    fn differences(&self) -> u64 {
        self.differences.values().sum()
    }

    /// Differences that are only counted: all beyond the most that are told.
    fn untold(&self) -> u64 {
        if self.json { 0 } else { self.differences().saturating_sub(MOST_TOLD) }
    }

    /// The end of the proof: what was looked at, and how many differences there are.
    fn tell(&self) {
        let Tally { receipts, other_nights, due, delivered, open, received, repeated } = self.tally;
        let differences = self.differences();
        if self.json {
            say!(
                "{}",
                json!({
                    "campaign": self.night.campaign,
                    "day": self.night.day,
                    "proved": differences == 0,
                    "differences": differences,
                    "kinds": self.differences,
                    "receipts": receipts,
                    "receipts_of_other_nights": other_nights,
                    "due": due,
                    "delivered": delivered,
                    "open": open,
                    "received": received,
                    "repeated": repeated,
                })
            );
            return;
        }
        if self.untold() > 0 {
            say!("... and {} more; --json names all", self.untold());
        }
        say!(
            "night {} of {}: {differences} differences; {due} due, {delivered} delivered, {received} received in \
             {receipts} receipts, {repeated} of them more than once; {other_nights} receipts of other nights passed over",
            self.night.campaign,
            self.night.day
        );
    }
}

/// A claim in words.
fn state(claim: Claim) -> String {
    let maybe = if claim.maybe() { ", a push may have been taken unrecorded" } else { "" };
    match claim.state() {
        State::Free(attempt) => format!("waiting for attempt {attempt}{maybe}"),
        State::Claimed(attempt) => format!("in flight, attempt {attempt}{maybe}"),
        State::Delivered(attempt) => format!("delivered at attempt {attempt}{maybe}"),
        State::Closed(reason) => format!("{} ({}){maybe}", reason.class().name(), reason.name()),
    }
}
