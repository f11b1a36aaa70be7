//! Devices, and the channels they are on.

use directory::{Applied, Change};
use domain::{ChannelName, Uid};

use crate::engine::{Engine, at, channels, new, noon, put, roster};

pub(crate) async fn a_device_registered_again_after_it_was_gone_stays(engine: &dyn Engine) {
    let directory = engine.directory();
    let apns: ChannelName = "apns".parse().unwrap();
    let [t1, gone, t2] = ["2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z", "2026-06-03T00:00:00Z"].map(at);
    let mut user = new(1, "Asia/Tokyo", &[("apns", "a"), ("apns", "b"), ("stub", "a")]);
    user.devices.as_mut().unwrap()[0].registered_at = Some(t1);
    user.devices.as_mut().unwrap()[1].registered_at = Some(t2);
    directory.apply(vec![Change::Put(user)], t2).await.unwrap();
    assert!(directory.drop_device(Uid(1), &apns, "a", gone).await.unwrap());
    assert!(!directory.drop_device(Uid(1), &apns, "a", gone).await.unwrap(), "it is off already");
    assert!(!directory.drop_device(Uid(1), &apns, "b", gone).await.unwrap(), "it was registered again");
    assert!(!directory.drop_device(Uid(2), &apns, "a", gone).await.unwrap(), "nobody");
    let left = directory.users(&[Uid(1)]).await.unwrap().remove(0).unwrap().devices;
    assert_eq!(
        left.iter().map(|d| (d.channel.as_str(), d.address.as_str())).collect::<Vec<_>>(),
        [("apns", "b"), ("stub", "a")]
    );
    assert!(directory.drop_device(Uid(1), &apns, "b", t2).await.unwrap());
    assert_eq!(channels(&roster(&*directory).await[0]), ["stub"]);
}

pub(crate) async fn a_channel_too_many_is_refused_by_name_and_alone(engine: &dyn Engine) {
    let directory = engine.directory();
    let names: Vec<_> = (0..17).map(|i| format!("c{i}")).collect();
    let mut changes: Vec<_> =
        names[..16].iter().zip(1..).map(|(c, uid)| put(uid, "Asia/Tokyo", &[(c, "x")])).collect();
    changes.push(put(40, "Asia/Tokyo", &[("c0", "x"), (&names[16], "x")]));
    changes.push(put(41, "Asia/Tokyo", &[("c15", "x")]));
    let applied = directory.apply(changes, noon()).await.unwrap();
    let Applied::Refused(refusal) = &applied[16] else { panic!("{:?}", applied[16]) };
    assert_eq!(refusal.field, "devices[1].channel");
    assert!(refusal.reason.starts_with("c16 "), "{refusal}");
    assert_eq!(applied[17], Applied::Created);
    assert_eq!(directory.users(&[Uid(40)]).await.unwrap(), [None]);
    let rows = roster(&*directory).await;
    assert_eq!(rows.iter().map(|row| channels(row).len()).collect::<Vec<_>>(), [1; 17]);
    assert_eq!(channels(&rows[16]), ["c15"]);
    // a channel that nobody else uses any more makes room
    let changes = vec![
        Change::Delete(Uid(6)),
        put(40, "Asia/Tokyo", &[("c16", "x")]),
        put(1, "Asia/Tokyo", &[("d", "x")]),
    ];
    assert_eq!(
        directory.apply(changes, noon()).await.unwrap(),
        [Applied::Deleted, Applied::Created, Applied::Updated]
    );
    let rows = roster(&*directory).await;
    let of = |uid| channels(rows.iter().find(|row| row.uid == Uid(uid)).unwrap());
    assert_eq!((of(40), of(1), of(2), of(41)), (vec!["c16"], vec!["d"], vec!["c1"], vec!["c15"]));
}
