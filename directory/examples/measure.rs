#![allow(clippy::all, clippy::unwrap_used, clippy::disallowed_methods, missing_docs)]
use directory::*;
use domain::{Instant, Uid};
use plumbing::{Command, File, Redis, RedisSettings};
use std::{sync::Arc, time::Instant as Clock};

fn rnd(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

const ZONES: [&str; 30] = [
    "Asia/Tokyo",
    "Asia/Seoul",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Kolkata",
    "Asia/Dubai",
    "Asia/Jakarta",
    "Asia/Manila",
    "Asia/Bangkok",
    "Asia/Ho_Chi_Minh",
    "Europe/Berlin",
    "Europe/Paris",
    "Europe/London",
    "Europe/Madrid",
    "Europe/Rome",
    "Europe/Warsaw",
    "Europe/Istanbul",
    "Europe/Moscow",
    "Africa/Cairo",
    "Africa/Lagos",
    "Africa/Johannesburg",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "America/Mexico_City",
    "America/Lima",
    "Australia/Sydney",
    "Pacific/Auckland",
];

fn user(n: u64, uid: u64, now: Instant) -> Change {
    let r = rnd(n ^ 0x55);
    let token = format!("{:064x}{:064x}{:022x}", r, rnd(r), r & 0xffff);
    let channels: &[&str] = match r % 10 {
        0..=4 => &["fcm"],
        5..=7 => &["apns"],
        8 => &["fcm", "webpush"],
        _ => &[],
    };
    let at = now - chrono::TimeDelta::seconds((rnd(r ^ 7) % (3 * 365 * 86400)) as i64);
    Change::Put(NewUser {
        uid: Uid(uid),
        zone: ZONES[(rnd(r ^ 9) % 30) as usize].parse().unwrap(),
        region: None,
        language: Some("de".parse().unwrap()),
        consent: Some(r % 20 != 0),
        consent_at: Some(at),
        devices: Some(
            channels
                .iter()
                .map(|c| NewDevice {
                    channel: c.parse().unwrap(),
                    address: token.clone(),
                    registered_at: Some(at),
                })
                .collect(),
        ),
        name: Some(format!("User {n}")),
    })
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (engine, users, form) = (args[1].as_str(), args[2].parse::<u64>().unwrap(), args[3].as_str());
    let now: Instant = "2026-06-07T12:00:00Z".parse().unwrap();
    let folder = std::env::temp_dir().join(format!("measure-{}", std::process::id()));
    let redis = (engine == "redis").then(|| {
        Redis::new(&RedisSettings::at(vec![std::env::var("STEPCAST_TEST_REDIS").unwrap()], "measure"))
            .unwrap()
    });
    let directory: Arc<dyn Directory> = match &redis {
        Some(r) => Arc::new(RedisDirectory::new(r.clone())),
        None => {
            Arc::new(EmbeddedDirectory::open(Arc::new(File::open(&folder.join("data")).unwrap())).unwrap())
        }
    };
    let mut uids: Vec<u64> = (0..users).map(|n| if form == "dense" { n } else { rnd(n) }).collect();
    if form == "sorted" { uids.sort_by_key(|u| ((u >> 8).wrapping_mul(0x9e3779b97f4a7d) & ((1<<56)-1)) >> 40); }
    let uid = |n: u64| uids[n as usize];
    let start = Clock::now();
    let mut making = std::time::Duration::ZERO;
    for first in (0..users).step_by(10_000) {
        let t = Clock::now();
        let changes: Vec<_> = (first..(first + 10_000).min(users)).map(|n| user(n, uid(n), now)).collect();
        making += t.elapsed();
        directory.apply(changes, now).await.unwrap();
    }
    let took = start.elapsed() - making;
    println!(
        "{engine} {form}: {users} users imported in {took:?}: {:.0}/s",
        users as f64 / took.as_secs_f64()
    );
    if let Some(r) = &redis {
        let info: String = r.read(Command::new("INFO").arg("memory").key("x")).await.unwrap_or_default();
        println!("{}", info.lines().find(|l| l.starts_with("used_memory:")).unwrap_or(""));
    }
    let mut size = 0usize;
    let mut count = 0;
    for (part, c) in (0..PARTS).zip(directory.changed(&[]).await.unwrap()) {
        for chunk in c.pages.chunks(500) {
            for p in directory.pages(part, chunk).await.unwrap() {
                size += p.unwrap().size();
                count += 1;
            }
        }
    }
    println!("pages: {count}, {:.2} bytes a user in the store", size as f64 / users as f64);
    let t = Clock::now();
    let mut column = Column::default();
    let r = column.refresh(&*directory, now).await.unwrap();
    println!(
        "column loaded in {:?}: {} users, {:.2} bytes a user, {r:?}",
        t.elapsed(),
        column.users(),
        column.bytes() as f64 / users as f64
    );
    let by_zone: Vec<u8> = (0..column.zones().len()).map(|i| (i % 3 == 0) as u8).collect();
    let by_kind: Vec<u8> =
        column.kinds().iter().map(|k| (k.consent && !k.channels.is_empty()) as u8).collect();
    let minute = (now.timestamp() / 60) as u32;
    for _ in 0..3 {
        let t = Clock::now();
        let (mut sum, mut due) = (0u64, 0u64);
        column.each(|row| {
            sum = sum.wrapping_add(row.uid.0);
            due += u64::from(
                by_zone[row.zone as usize] & by_kind[row.kind as usize] != 0
                    && row.due_from <= minute
                    && row.moved.is_none(),
            );
        });
        println!(
            "each: {:?} ({:.1} ns a row) due {due} {sum}",
            t.elapsed(),
            t.elapsed().as_secs_f64() * 1e9 / users as f64
        );
    }
    let t = Clock::now();
    println!("rows: {} in {:?}", column.rows().map(|r| r.uid.0 & 1).sum::<u64>(), t.elapsed());
    let t = Clock::now();
    for _ in 0..20 {
        column.refresh(&*directory, now).await.unwrap();
    }
    println!("refresh without changes: {:?}", t.elapsed() / 20);
    if let Some(r) = &redis {
        println!("erased {}", r.erase().await.unwrap());
    }
    let _ = std::fs::remove_dir_all(folder);
}
