use super::Seal;
use crate::{
    Claim,
    sums::{Delta, Deltas},
};

impl Seal {
    /// What a seal that was checked adds to the sums. Zones and channels are counted by their places in it: to look them up
    /// by name for each user is more work than all the rest of writing it.
    pub(crate) fn deltas(&self) -> Deltas {
        let places = self.zones.len() * self.channels.len();
        let (mut fresh, mut deltas) = (vec![0i64; places], vec![Delta::default(); places]);
        for due in &self.due {
            let place = usize::from(due.zone) * self.channels.len() + usize::from(due.channel);
            match due.closed {
                None => fresh[place] += 1,
                Some(_) => deltas[place].carry(due.claim(), 1),
            }
        }
        let names = self.zones.iter().flat_map(|zone| self.channels.iter().map(|c| (c.clone(), zone.zone)));
        let sums = deltas.into_iter().zip(fresh).map(|(mut delta, users)| {
            delta.carry(Claim::FRESH, users);
            delta
        });
        names.zip(sums).map(|((channel, zone), delta)| (channel, zone, delta)).collect()
    }
}

#[cfg(test)]
mod tests {
    use domain::{Instant, ShardCount, Uid};

    use crate::{Due, Reason, Seal, SealZone, sums::Deltas};

    #[test]
    fn they_are_the_sums_of_its_users_one_by_one() {
        let zone = |name: &str| SealZone { zone: name.parse().unwrap(), deadline: Instant::UNIX_EPOCH };
        let due = (0..60u8).map(|i| Due {
            uid: Uid(i.into()),
            slot: 0,
            channel: i % 2,
            zone: i % 3,
            closed: (i % 7 == 0).then_some(Reason::ZoneMoved),
        });
        let seal = Seal {
            n: ShardCount::MIN,
            window: 1,
            channels: ["stub", "webhook", "unused"].iter().map(|c| c.parse().unwrap()).collect(),
            zones: ["Europe/Berlin", "Asia/Tokyo", "America/Lima"].map(zone).to_vec(),
            due: due.collect(),
        };
        let mut wanted = Deltas::default();
        for due in &seal.due {
            let (channel, zone) = (usize::from(due.channel), usize::from(due.zone));
            wanted.at(&seal.channels[channel], seal.zones[zone].zone).carry(due.claim(), 1);
        }
        let listed = |deltas: &Deltas| {
            let mut all: Vec<_> = deltas.iter().map(|(c, z, d)| (c.clone(), *z, d.counts)).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(listed(&seal.deltas()), listed(&wanted));
        assert_eq!(listed(&wanted).len(), 6);
    }
}
