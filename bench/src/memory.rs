use anyhow::{Context, bail};

use crate::{process, registry::Bench, size::Size};

/// Refuses a size that the machine's free memory does not hold.
pub(crate) fn check(bench: &Bench, size: Size) -> anyhow::Result<()> {
    let needed = size.of(bench.users).saturating_mul(bench.memory);
    let available = process::bytes_of("/proc/meminfo", "MemAvailable").context("the free memory")?;
    if needed > available {
        let (name, size) = (bench.name, size.name());
        bail!("memory forbids {name} at {size}: it needs {} MiB, {} are free", needed >> 20, available >> 20);
    }
    Ok(())
}
