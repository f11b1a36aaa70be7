//! The scripts of the ledger: each works on the keys of one tag.

use std::sync::LazyLock;

use plumbing::{Command, Script};

use super::keys;
use crate::sums::Deltas;

macro_rules! script {
    ($(#[$doc:meta])* $name:ident, $file:literal $(, $before:literal)*) => {
        $(#[$doc])*
        pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
            Script::new(
                concat!("night-ledger/", $file),
                concat!($(include_str!(concat!("lua/", $before, ".lua")),)* include_str!(concat!("lua/", $file, ".lua"))),
            )
        });
    };
}

script!(
    /// One step of the work on a batch.
    STEP, "step", "claims", "windows", "pending"
);
script!(
    /// Forgets what is published.
    PUBLISHED, "published", "pending"
);
script!(
    /// Changes claims that no sender changes.
    REVISE, "revise", "claims", "windows"
);
script!(
    /// Begins to close a seal.
    ENDING, "ending"
);
script!(
    /// Parts of the claims and moves at one moment.
    VIEW, "view", "claims"
);
script!(
    /// Writes a seal.
    SEAL, "seal", "claims"
);
script!(
    /// Raises the epoch, and the batches confirmed.
    EPOCH, "epoch"
);
script!(
    /// The lease on a shard.
    SHARD, "shard"
);
script!(
    /// Who is alive.
    MEMBERS, "members"
);
script!(
    /// Writes a field that has nothing yet.
    KEEP, "keep"
);
script!(
    /// Puts a brake on or takes it off.
    BRAKE, "brake"
);

/// Appends the counts that change, as the scripts read them.
pub(super) fn put_sums(mut command: Command, deltas: &Deltas) -> Command {
    let mut changes = Vec::new();
    for (channel, zone, delta) in deltas.iter() {
        let by = delta.counts.iter().enumerate().filter(|(_, by)| **by != 0);
        changes.extend(by.map(|(place, by)| (keys::count(channel, *zone, place), *by)));
    }
    command = command.arg(changes.len());
    for (field, by) in changes {
        command = command.arg(field).arg(by);
    }
    command
}
