//! The step of a sender as compare-and-set: what the claims are to be is told to the server with what they become, and it
//! writes only if it finds them so. A chunk that goes as it mostly does takes one round trip.

use plumbing::{Command, Redis, StoreError};

use super::{
    answer::{Found, Taken},
    keys, log,
    scripts::{self, put_sums},
    windows::Windows,
};
use crate::{
    Claim, Step, Stepped,
    runs::Runs,
    turn::{Hold, Turned, touched, turn},
};

/// So often is a step tried when what it finds is another thing each time.
const ROUNDS: u32 = 200;

pub(super) async fn step(redis: &Redis, step: &Step) -> Result<Stepped, StoreError> {
    let (shard, seal) = keys::of_seal(redis, &step.seal);
    let positions = touched(step);
    let windows = Windows::of(&positions);
    let mut view = View::expected(step, &positions);
    for _ in 0..ROUNDS {
        let turned = turn(step, &view.hold, &positions, &view.old);
        let command = scripts::STEP.call(&[
            &seal.claims,
            &seal.leases,
            &shard.sums(),
            &seal.pending,
            &seal.worked,
            &seal.moved,
            &seal.channels,
        ]);
        let command = put_step(command, step, &view, &turned, &positions);
        let command = put_sums(windows.put(command, &view.old, &turned.now), &turned.deltas);
        match redis.write(put_moves(command, &turned)).await? {
            Taken::Done => return Ok(Stepped::Done(turned.claimed)),
            Taken::Held(left) => return Ok(Stepped::Held(left)),
            Taken::NoSeal => return Ok(Stepped::NoSeal),
            Taken::Otherwise(found) => view = View::read(step, &windows, found)?,
        }
    }
    Err(StoreError::Unavailable(format!("the claims of {} changed at each of {ROUNDS} tries", step.seal)))
}

/// What a step takes the claims and leases for.
struct View {
    old: Vec<Claim>,
    hold: Hold,
    found: Found,
}

impl View {
    /// As it mostly is: what is booked is claimed and is the whole chunk of this owner's live lease, what is to be claimed is
    /// free.
    fn expected(step: &Step, positions: &[u32]) -> Self {
        let own = Runs::of(step.done.iter().map(|done| done.position));
        // an attempt that no claim can have is found out by the first answer
        let free = Claim::free(step.attempt).unwrap_or(Claim::FRESH);
        let claimed = free.claim(step.attempt, false).unwrap_or(free);
        let old =
            positions.iter().map(|&position| if own.contains(position) { claimed } else { free }).collect();
        Self { old, hold: Hold { own, others: Runs::default() }, found: Found::default() }
    }

    /// As the server found it.
    fn read(step: &Step, windows: &Windows<'_>, found: Found) -> Result<Self, StoreError> {
        let (mut own, mut others) = (Runs::default(), Vec::new());
        for lease in &found.leases {
            if lease.batch != step.batch {
                others.extend(lease.chunk.iter());
            } else if lease.owner == step.owner {
                own = lease.chunk.clone();
            }
        }
        let old = windows.claims(&found.claims)?;
        Ok(Self { old, hold: Hold { own, others: Runs::of(others) }, found })
    }
}

fn put_step(command: Command, step: &Step, view: &View, turned: &Turned, positions: &[u32]) -> Command {
    let marked = |bytes: Option<&[u8]>| bytes.map_or(b"-".to_vec(), |bytes| [b"+", bytes].concat());
    let own = (!view.hold.own.is_empty()).then(|| encoded(&view.hold.own));
    let granted = step.claim.iter().zip(&turned.claimed).filter(|(_, claim)| claim.is_some());
    let chunk = Runs::of(granted.map(|((position, _), _)| *position));
    let command = command
        .arg(&step.owner.0.to_be_bytes()[..])
        .arg(&keys::batch(step.batch)[..])
        .arg(u64::try_from(step.term.as_millis()).unwrap_or(u64::MAX).min(MOST_TERM))
        .arg(marked(own.as_deref()))
        .arg(encoded(&chunk))
        .arg(marked(step.pending.as_deref()))
        .arg(worked(step, turned))
        .arg(keys::TIME_TO_LIVE);
    if !turned.found {
        return command.arg(0);
    }
    let mut blocks: Vec<String> = positions.iter().map(|&position| keys::turns(position)).collect();
    blocks.dedup();
    blocks.iter().fold(command.arg(blocks.len()), |command, block| {
        let turns = view.found.turns.get(block).map_or("0", String::as_str);
        command.arg(block).arg(turns)
    })
}

/// A longer lease would not fit its 13 digits: ten years.
const MOST_TERM: u64 = 10 * 365 * 86_400_000;

fn put_moves(command: Command, turned: &Turned) -> Command {
    let mut moved = turned.moved.clone();
    moved.sort_unstable();
    let runs: Vec<_> = moved.chunk_by(|a, b| b.0 - a.0 == 1 && a.1 == b.1).collect();
    runs.iter().fold(command.arg(runs.len()), |command, run| {
        command.arg(run[0].1.as_str()).arg(run[0].0).arg(run.len())
    })
}

/// What goes into the log, empty when nothing is booked.
fn worked(step: &Step, turned: &Turned) -> Vec<u8> {
    if turned.booked.is_empty() {
        return Vec::new();
    }
    let mut entry = vec![step.attempt];
    log::put(&mut entry, &step.seal, step.at, &Runs::of(turned.booked.iter().copied()));
    entry
}

fn encoded(runs: &Runs) -> Vec<u8> {
    let mut bytes = Vec::new();
    runs.encode(&mut bytes);
    bytes
}
