use std::{sync::Arc, time::Instant};

use chrono::{DateTime, TimeDelta, Utc};
use rig::{Gateway, Item, MINUTES, RealDay, Recount, RedisServer, Walked, real_days, shared_data};
use tokio::sync::{Mutex, Semaphore};

use super::stage::{Paced, ZONES, offset, stores};

const USERS: u64 = 10_000;
/// Simulated seconds of a real one.
const RATE: u32 = 240;
/// What is reported at one time: so many minutes' worth.
const TICK: TimeDelta = TimeDelta::minutes(2);
/// From before the first of the zones begins its 7 June until after the last has frozen it.
const FROM: &str = "2026-06-06T14:55:00Z";
const UNTIL: &str = "2026-06-08T05:20:00Z";
/// Batches under way at once, and the items of one.
const AT_ONCE: usize = 6;
const BATCH: usize = 500;

/// Everybody's 7 June, by the minute, as real people walked it. Ingest is killed twice: at midnight of the first zone, and in the
/// evening of the last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: tests/run --long"]
async fn long_10_000_people_report_a_whole_day_by_the_minute_over_midnight_in_three_zones() {
    let name = "long_10_000_people_report_a_whole_day_by_the_minute_over_midnight_in_three_zones";
    let Some(data) = shared_data(name) else { return };
    let days = real_days(&data);
    let redis = RedisServer::start(&[]).await;
    let mut stage = Paced::new(&stores(&[redis.url()], false, "wal"), FROM, RATE, USERS).await;
    let (recount, room) = (Arc::<Mutex<Recount>>::default(), Arc::new(Semaphore::new(AT_ONCE)));
    let (mut told, mut kills) = (FROM.parse::<DateTime<Utc>>().unwrap(), kills());
    let until: DateTime<Utc> = UNTIL.parse().unwrap();
    let began = Instant::now();
    while told < until {
        if kills.first().is_some_and(|at| *at <= told) {
            kills.remove(0);
            stage.killed().await;
        }
        let now = stage.now();
        if now < told + TICK {
            tokio::time::sleep((told + TICK - now).to_std().unwrap() / RATE).await;
            continue;
        }
        let items = walked(&days, told, told + TICK);
        told += TICK;
        for batch in items.chunks(BATCH) {
            let place = Arc::clone(&room).acquire_owned().await.unwrap();
            let (gateway, recount, batch) = (stage.gateway.clone(), Arc::clone(&recount), batch.to_vec());
            tokio::spawn(async move {
                report(&gateway, &recount, &batch).await;
                drop(place);
            });
        }
    }
    let _all = room.acquire_many(u32::try_from(AT_ONCE).unwrap()).await.unwrap();
    let recount = recount.lock().await;
    let [stored, repeats, refused] = recount.answers;
    println!(
        "{stored} stored, {repeats} repeats, {refused} refused {:?}, in {:?}",
        recount.reasons,
        began.elapsed()
    );
    assert!(stored > 1_000_000, "too little was stored to show anything");
    // only who reports after the freeze, because ingest was away or this machine was slow, is refused
    assert!(recount.reasons.keys().all(|reason| reason == "too_late"), "{:?}", recount.reasons);
    stage.agrees(&recount).await;
}

async fn report(gateway: &Gateway, recount: &Mutex<Recount>, batch: &[Item]) {
    let answers = gateway.post(batch).await;
    let mut recount = recount.lock().await;
    batch.iter().zip(&answers).for_each(|(item, answer)| recount.count(item, answer));
}

/// What everybody walked of their 7 June in the minutes that begin from `from` up to `until`.
fn walked(days: &[RealDay], from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Item> {
    let mut items = Vec::new();
    for zone in 0..ZONES.len() {
        let mut minute = from;
        while minute < until {
            let first = u64::try_from(zone).unwrap();
            let local = minute.with_timezone(&offset(first));
            let of_day = local.signed_duration_since(begin(first)).num_minutes();
            let users = (1..=USERS).filter(|uid| uid % 3 == first);
            for uid in users.take_while(|_| (0..i64::try_from(MINUTES).unwrap()).contains(&of_day)) {
                let place = usize::try_from(of_day).unwrap();
                let steps = days[usize::try_from(uid).unwrap() % days.len()][place];
                if steps > 0 {
                    let id = u64::try_from(of_day).unwrap();
                    items.push(Item {
                        uid,
                        at: local,
                        source: "phone",
                        walked: Walked::Steps(steps.into()),
                        id,
                    });
                }
            }
            minute += TimeDelta::minutes(1);
        }
    }
    items
}

/// Where 7 June begins on somebody's wall.
fn begin(uid: u64) -> DateTime<chrono::FixedOffset> {
    let midnight = "2026-06-07T00:00:00".parse::<chrono::NaiveDateTime>().unwrap();
    midnight.and_local_timezone(offset(uid)).unwrap()
}

fn kills() -> Vec<DateTime<Utc>> {
    vec!["2026-06-07T14:58:00Z".parse().unwrap(), "2026-06-08T02:00:00Z".parse().unwrap()]
}
