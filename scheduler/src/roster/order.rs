use night_ledger::Due;

/// The due in the order of a seal, by slot, channel and uid. They are counted into slots and channels, of which there are
/// few, so that only the users of one are compared with each other.
pub(super) fn ordered(mut due: Vec<Due>, window: u32, channels: usize) -> Vec<Due> {
    let slots = usize::try_from(window.max(1)).unwrap_or(usize::MAX);
    let channels = channels.max(1);
    let places = slots.saturating_mul(channels);
    if due.len() < places / 8 {
        due.sort_unstable_by_key(|d| (d.slot, d.channel, d.uid));
        return due;
    }
    let place = |d: &Due| {
        let slot = usize::try_from(d.slot).unwrap_or(usize::MAX);
        slot.saturating_mul(channels).saturating_add(usize::from(d.channel)).min(places - 1)
    };
    // starts[p]: where the users of place p go next
    let mut starts = vec![0usize; places + 1];
    due.iter().for_each(|d| starts[place(d) + 1] += 1);
    for p in 0..places {
        starts[p + 1] += starts[p];
    }
    let mut sorted = due.clone();
    for d in &due {
        let start = &mut starts[place(d)];
        sorted[*start] = *d;
        *start += 1;
    }
    drop(due);
    // now starts[p] is the end of place p
    let mut rest = &mut sorted[..];
    let mut from = 0;
    for &end in &starts[..places] {
        let (run, after) = rest.split_at_mut(end - from);
        if !run.is_sorted_by_key(|d| d.uid) {
            run.sort_unstable_by_key(|d| d.uid);
        }
        (rest, from) = (after, end);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use domain::{Uid, slot};

    use super::*;

    #[test]
    fn it_is_the_order_of_a_seal() {
        for (window, channels, uids) in [(0, 1, 5_000u64), (60, 3, 5_000), (3_600, 2, 300), (60, 1, 0)] {
            let due = (0..uids).rev().map(|u| {
                let uid = Uid(u.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let channel = u8::try_from(u % channels).unwrap();
                Due { uid, slot: slot(uid, window), channel, zone: 0, closed: None }
            });
            let due: Vec<_> = due.collect();
            let mut wanted = due.clone();
            wanted.sort_by_key(|d| (d.slot, d.channel, d.uid));
            assert_eq!(ordered(due, window, usize::try_from(channels).unwrap()), wanted, "{window}");
        }
    }
}
