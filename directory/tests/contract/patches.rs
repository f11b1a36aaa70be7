use directory::{Applied, NewDevice, UserPatch};
use domain::Uid;

use crate::engine::{Engine, noon, put};

fn device(address: &str) -> NewDevice {
    NewDevice { channel: "push".parse().unwrap(), address: address.to_owned(), registered_at: None }
}

pub(crate) async fn a_patch_changes_what_it_names_and_makes_nobody(engine: &impl Engine) {
    let directory = engine.directory();
    directory.apply(vec![put(1, "Asia/Tokyo", &[("push", "a")])], noon()).await.unwrap();
    let patch = UserPatch { consent: Some(false), name: Some("Ada".to_owned()), ..UserPatch::of(Uid(1)) };
    let nobody = UserPatch { consent: Some(false), ..UserPatch::of(Uid(2)) };
    for (patch, wanted) in
        [(patch.clone(), Applied::Updated), (patch, Applied::Unchanged), (nobody, Applied::Absent)]
    {
        assert_eq!(directory.patch(patch, noon()).await.unwrap(), wanted);
    }
    let found = directory.users(&[Uid(1), Uid(2)]).await.unwrap();
    let user = found[0].as_ref().unwrap();
    assert_eq!(
        (user.consent, user.name.as_str(), user.zone.name(), user.devices.len()),
        (false, "Ada", "Asia/Tokyo", 1)
    );
    assert!(found[1].is_none());
}

pub(crate) async fn a_patch_moves_and_is_refused_past_a_limit(engine: &impl Engine) {
    let directory = engine.directory();
    directory.apply(vec![put(1, "Asia/Tokyo", &[])], noon()).await.unwrap();
    let moved = UserPatch { zone: Some("Europe/Berlin".parse().unwrap()), ..UserPatch::of(Uid(1)) };
    let long = UserPatch { name: Some("x".repeat(201)), ..UserPatch::of(Uid(1)) };
    assert_eq!(directory.patch(moved, noon()).await.unwrap(), Applied::Updated);
    let done = directory.patch(long, noon()).await.unwrap();
    assert!(matches!(&done, Applied::Refused(why) if why.field == "name"), "{done:?}");
    let user = directory.users(&[Uid(1)]).await.unwrap().remove(0).unwrap();
    let moved = user.moved.unwrap();
    assert_eq!(
        (user.zone.name(), moved.from.name(), moved.last.number()),
        ("Europe/Berlin", "Asia/Tokyo", 20_260_607)
    );
}

/// Sixteen at once add a device each to one record.
pub(crate) async fn patches_at_once_lose_nothing(engine: &impl Engine) {
    let directory = engine.directory();
    directory.apply(vec![put(1, "Asia/Tokyo", &[])], noon()).await.unwrap();
    let add = |number: u32| {
        let directory = engine.directory();
        let patch = UserPatch { device: Some(device(&format!("d{number}"))), ..UserPatch::of(Uid(1)) };
        tokio::spawn(async move { directory.patch(patch, noon()).await.unwrap() })
    };
    for done in (0..16).map(add).collect::<Vec<_>>() {
        assert_eq!(done.await.unwrap(), Applied::Updated);
    }
    let user = directory.users(&[Uid(1)]).await.unwrap().remove(0).unwrap();
    let mut addresses: Vec<_> = user.devices.iter().map(|device| device.address.clone()).collect();
    addresses.sort_unstable();
    let mut wanted: Vec<_> = (0..16).map(|number| format!("d{number}")).collect();
    wanted.sort_unstable();
    assert_eq!(addresses, wanted);
    let more = UserPatch { device: Some(device("one too many")), ..UserPatch::of(Uid(1)) };
    let done = directory.patch(more, noon()).await.unwrap();
    assert!(matches!(&done, Applied::Refused(why) if why.field == "devices"), "{done:?}");
    // one that is there is renewed, and is no seventeenth
    let again = UserPatch { device: Some(device("d3")), ..UserPatch::of(Uid(1)) };
    let later = noon() + chrono::TimeDelta::hours(1);
    assert_eq!(directory.patch(again, later).await.unwrap(), Applied::Updated);
}
