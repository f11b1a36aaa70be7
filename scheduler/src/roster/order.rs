use night_ledger::Due;

/// Users that are compared with each other, about, where there are few enough in all.
const TOGETHER: usize = 4;
/// The most buckets of uids: more than a core has cache for at once are slower than comparing.
const MOST: usize = 1 << 14;

/// Puts the due of one shard after another in the order of a seal: by slot, channel and uid.
pub(super) struct Order {
    channels: usize,
    /// Slots times channels.
    places: usize,
    /// Where the users of each bucket go next.
    starts: Vec<u32>,
    /// Where the users are put in order. What they were in before is there for the next shard: fresh memory costs more than
    /// the work in it.
    sorted: Vec<Due>,
}

impl Order {
    pub(super) fn new(window: u32, channels: usize) -> Self {
        let slots = usize::try_from(window.max(1)).unwrap_or(usize::MAX);
        let channels = channels.max(1);
        Self { channels, places: slots.saturating_mul(channels), starts: Vec::new(), sorted: Vec::new() }
    }

    /// Puts them in order. They are counted into buckets by slot, channel and the uppermost bits in which uids differ, so
    /// that only a few are compared with each other.
    pub(super) fn put(&mut self, due: &mut Vec<Due>) {
        let Some(first) = due.first().copied() else { return };
        if due.len() < self.places / 8 || u32::try_from(due.len()).is_err() {
            due.sort_unstable_by_key(|d| (d.slot, d.channel, d.uid));
            return;
        }
        let span = due.iter().fold((first.uid.0, first.uid.0), |(a, b), d| (a.min(d.uid.0), b.max(d.uid.0)));
        let buckets = Buckets::new(self.channels, self.places, due.len(), span);
        self.starts.clear();
        self.starts.resize(buckets.count + 1, 0);
        due.iter().for_each(|d| self.starts[buckets.of(d) + 1] += 1);
        for b in 0..buckets.count {
            self.starts[b + 1] += self.starts[b];
        }
        // whatever stands there is written over
        self.sorted.resize(due.len(), first);
        for d in due.iter() {
            let start = &mut self.starts[buckets.of(d)];
            self.sorted[place(*start)] = *d;
            *start += 1;
        }
        // now starts[b] is the end of bucket b
        let mut rest = &mut self.sorted[..];
        let mut from = 0;
        for end in self.starts[..buckets.count].iter().map(|end| place(*end)) {
            let (run, after) = rest.split_at_mut(end - from);
            if !run.is_sorted_by_key(|d| d.uid) {
                run.sort_unstable_by_key(|d| d.uid);
            }
            (rest, from) = (after, end);
        }
        std::mem::swap(due, &mut self.sorted);
    }
}

fn place(start: u32) -> usize {
    usize::try_from(start).unwrap_or(usize::MAX)
}

/// Buckets in the order of a seal. Each has one slot and channel.
struct Buckets {
    channels: usize,
    /// Slots times channels.
    places: usize,
    /// Buckets of a slot and channel, as bits.
    bits: u32,
    least: u64,
    /// Uids above the least are cut to `bits` by this.
    shift: u32,
    count: usize,
}

impl Buckets {
    fn new(channels: usize, places: usize, users: usize, (least, most): (u64, u64)) -> Self {
        let each = (users / TOGETHER).min(MOST) / places;
        // 0 or 1 make one
        let bits = each.checked_ilog2().unwrap_or(0);
        let width = u64::BITS - (most - least).leading_zeros();
        Self { channels, places, bits, least, shift: width.saturating_sub(bits), count: places << bits }
    }

    #[inline]
    fn of(&self, due: &Due) -> usize {
        let slot = usize::try_from(due.slot).unwrap_or(usize::MAX);
        let place = slot.saturating_mul(self.channels).saturating_add(usize::from(due.channel));
        // a shift by all 64 bits leaves nothing
        let above = (due.uid.0 - self.least).checked_shr(self.shift).unwrap_or(0);
        (place.min(self.places - 1) << self.bits) + usize::try_from(above).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Uid, slot};

    use super::*;

    #[test]
    fn it_is_the_order_of_a_seal() {
        let spread: [fn(u64) -> u64; 4] =
            [|u| u, |u| u.wrapping_mul(0x9e37_79b9_7f4a_7c15), |u| u64::MAX - u, |u| (u * u * u) << 8];
        let sizes = [(0, 1, 50_000u64), (60, 3, 5_000), (3_600, 2, 300), (60, 1, 0), (1, 2, 1), (1, 1, 2)];
        for ((window, channels, uids), spread) in sizes.into_iter().flat_map(|s| spread.map(|f| (s, f))) {
            let due = (0..uids).rev().map(|u| {
                let uid = Uid(spread(u));
                let channel = u8::try_from(u % channels).unwrap();
                Due { uid, slot: slot(uid, window), channel, zone: 0, closed: None }
            });
            let mut due: Vec<_> = due.collect();
            let mut wanted = due.clone();
            wanted.sort_by_key(|d| (d.slot, d.channel, d.uid));
            let mut order = Order::new(window, usize::try_from(channels).unwrap());
            order.put(&mut due);
            assert_eq!(due, wanted, "{window}");
            // what is kept from one shard bears on no other
            due.truncate(due.len() / 2);
            due.reverse();
            order.put(&mut due);
            assert_eq!(due, wanted[..due.len()], "{window}");
        }
    }
}
