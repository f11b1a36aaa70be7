use std::collections::{HashMap, HashSet};

use anyhow::bail;
use domain::{Day, Uid};
use sender::Parts;
use serde_json::Value;
use step_store::Read;

use crate::demo::day::{Report, Source, Walked};

/// What a report was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) enum Answer {
    Stored,
    Repeat,
    Refused,
}

/// What came of the reports of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::demo) struct Counts {
    pub(in crate::demo) reports: u64,
    pub(in crate::demo) stored: u64,
    pub(in crate::demo) repeats: u64,
    pub(in crate::demo) refused: u64,
    /// Users whose number is not that of the recount.
    pub(in crate::demo) mismatch: u64,
}

/// Counts what was answered as stored, without the program's code: increments of a source add up, totals rise, the largest source
/// is the number.
#[derive(Debug, Default)]
pub(super) struct Recount {
    held: HashMap<Uid, [u32; 2]>,
    seen: HashSet<(Uid, u16)>,
    counts: Counts,
}

/// Users read at once.
const PIECE: usize = 10_000;

impl Answer {
    /// From the status of a result.
    pub(super) fn of(status: &Value) -> anyhow::Result<Self> {
        match status.as_str() {
            Some("stored") => Ok(Self::Stored),
            Some("repeat") => Ok(Self::Repeat),
            Some("refused") => Ok(Self::Refused),
            _ => bail!("a report was answered {status}"),
        }
    }
}

impl Recount {
    pub(super) fn count(&mut self, report: &Report, answer: Answer) {
        self.counts.reports += 1;
        match answer {
            Answer::Stored => self.counts.stored += 1,
            Answer::Repeat => self.counts.repeats += 1,
            Answer::Refused => {
                self.counts.refused += 1;
                return;
            }
        }
        let first = self.seen.insert((report.uid, report.number));
        let held = &mut self.held.entry(report.uid).or_default()[usize::from(report.source == Source::Watch)];
        match report.walked {
            Walked::Steps(steps) if first => *held += steps,
            Walked::Steps(_) => {}
            Walked::Total(total) => *held = total.max(*held),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Compares with the store.
    pub(super) async fn end(self, parts: &Parts, day: Day) -> anyhow::Result<Counts> {
        let users: Vec<_> = self.held.into_iter().collect();
        let mut counts = self.counts;
        for users in users.chunks(PIECE) {
            let uids: Vec<_> = users.iter().map(|(uid, _)| *uid).collect();
            let read = parts.steps.read_many(&uids, day).await?;
            let differs = |((_, sources), read): &(&(Uid, [u32; 2]), Read)| {
                *read != Read::Steps(sources.iter().copied().max().unwrap_or(0))
            };
            counts.mismatch += users.iter().zip(read).filter(differs).count() as u64;
        }
        Ok(counts)
    }
}
