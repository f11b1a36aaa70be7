use std::sync::LazyLock;

use plumbing::Script;

/// Writes units.
pub(super) static WRITE: LazyLock<Script> =
    LazyLock::new(|| Script::new("steps.write", include_str!("lua/write.lua")));

/// Reads postings.
pub(super) static OUTBOX: LazyLock<Script> =
    LazyLock::new(|| Script::new("steps.outbox", include_str!("lua/outbox.lua")));

/// Forgets postings.
pub(super) static POSTED: LazyLock<Script> =
    LazyLock::new(|| Script::new("steps.posted", include_str!("lua/posted.lua")));

/// Tells how far postings are.
pub(super) static POSITION: LazyLock<Script> =
    LazyLock::new(|| Script::new("steps.position", include_str!("lua/position.lua")));

/// Takes or renews the lease on posting.
pub(super) static LEASE: LazyLock<Script> =
    LazyLock::new(|| Script::new("steps.lease", include_str!("lua/lease.lua")));

/// Raises a watermark.
pub(super) static FREEZE: LazyLock<Script> =
    LazyLock::new(|| Script::new("steps.freeze", include_str!("lua/freeze.lua")));

/// Marks a user as erased.
pub(super) static ERASED: LazyLock<Script> =
    LazyLock::new(|| Script::new("steps.erased", include_str!("lua/erased.lua")));
