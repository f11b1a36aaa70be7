//! One user: all devices of the channel get the push, and one that accepts it is enough.

use std::time::Duration;

use chrono::Utc;
use directory::{Device, User};
use domain::{Campaign, ChannelName, Identity, Instant, Uid};
use futures_util::future::join_all;
use job_queue::{Batch, BatchEntry};
use night_ledger::Reason;
use smallvec::{SmallVec, smallvec};
use tokio::time::timeout;

use crate::{
    Texts, Values,
    channel::{Fault, Push},
    parts::{Line, Parts},
};

/// A device that its provider reported gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    uid: Uid,
    address: String,
    since: Instant,
}

/// What came of one user's devices together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// A device accepted it.
    Delivered,
    /// Over without a delivery.
    Closed(Reason),
    /// Not pushed for want of quota.
    Released,
    /// To be tried again.
    Failed { after: Option<Duration>, maybe: bool },
    /// Sent, and no answer came.
    NoAnswer,
    /// No live device left here, but on this channel of the campaign.
    Move(ChannelName),
    /// Every device was reported gone.
    NoChannelLeft,
}

/// Something of each device of a user's on a channel: nearly everybody has one.
type OfDevices<T> = SmallVec<[T; 1]>;

/// How long a channel that takes nothing at all rests before it is tried again.
const STOPPED: Duration = Duration::from_secs(60);

/// How long those that are gone may keep the next chunk waiting.
const DROPPING: Duration = Duration::from_secs(2);

/// Pushes to every device of one user on the channel, and answers what came of it and which of the devices are gone.
#[allow(clippy::too_many_arguments, reason = "each is another part of the one push")]
pub(crate) async fn push_user(
    parts: &Parts,
    line: &Line,
    campaign: &Campaign,
    texts: &Texts,
    batch: &Batch,
    entry: &BatchEntry,
    user: &User,
    steps: u32,
) -> (Pushed, Vec<Gone>) {
    let devices = devices(user, &line.name);
    if devices.is_empty() {
        let pushed = elsewhere(campaign, line, user).map_or(Pushed::Closed(Reason::NoDevice), Pushed::Move);
        return (pushed, Vec::new());
    }
    let values = Values { name: &user.name, steps, day: batch.day };
    let (title, body) = match texts.render(&user.language, values) {
        Ok(text) => text,
        Err(error) => {
            tracing::error!(campaign = %batch.campaign, uid = %user.uid, %error, "the text could not be made");
            return (Pushed::Closed(Reason::Text), Vec::new());
        }
    };
    let identity = Identity { campaign: batch.campaign.clone(), uid: entry.uid, day: batch.day };
    let keys = devices.iter().enumerate().map(|(index, device)| match index {
        0 => identity.text(),
        _ => format!("{identity}.{:016x}", xxhash_rust::xxh3::xxh3_64(device.address.as_bytes())),
    });
    let keys: OfDevices<String> = keys.collect();
    let pushes = devices.iter().zip(&keys).map(|(device, key)| Push {
        identity: &identity,
        key,
        address: &device.address,
        language: &user.language,
        title: &title,
        body: &body,
        steps,
        deadline: batch.deadline(entry),
    });
    let pushes: OfDevices<_> = pushes.collect();
    let (mut faults, mut gone) = (Vec::new(), Vec::new());
    let mut delivered = false;
    for (device, end) in devices.iter().zip(push_devices(parts, line, &pushes).await) {
        match end {
            Ok(()) => delivered = true,
            Err(Some(Fault::DeviceGone { since })) => {
                gone.push(Gone { uid: user.uid, address: device.address.clone(), since });
                faults.push(Fault::DeviceGone { since });
            }
            Err(Some(fault)) => faults.push(fault),
            // its deadline came while it waited for quota
            Err(None) => {}
        }
    }
    let pushed = match (delivered, faults.is_empty()) {
        (true, _) => Pushed::Delivered,
        (false, true) => Pushed::Closed(Reason::Deadline),
        (false, false) => together(&faults, campaign, line, user),
    };
    (pushed, gone)
}

/// Takes devices that are gone off the directory, once it is booked that this push to their user is over: until then
/// they keep the places by which the others are named, see [`devices`].
pub(crate) async fn drop_gone(parts: &Parts, line: &Line, gone: Vec<Gone>) {
    if gone.is_empty() {
        return;
    }
    // registrations are stamped by this clock too, also where the program's is shifted
    let now = Utc::now();
    let dropping = gone.iter().map(|Gone { uid, address, since }| async move {
        // a provider's clock may be ahead
        let since = now.min(*since);
        if let Err(error) = parts.directory.drop_device(*uid, &line.name, address, since).await {
            // the provider will say so again
            tracing::warn!(channel = %line.name, %uid, %error, "a device that is gone could not be dropped");
        }
    });
    if timeout(DROPPING, join_all(dropping)).await.is_err() {
        tracing::warn!(channel = %line.name, devices = gone.len(), "devices that are gone could not all be dropped in time");
    }
}

/// The user's devices on the channel, in an order that holds over the retries of a push: by when they were registered,
/// then by address. The first is pushed to under the bare identity.
fn devices<'a>(user: &'a User, channel: &ChannelName) -> OfDevices<&'a Device> {
    let mut devices: OfDevices<&Device> = user.devices.iter().filter(|d| d.channel == *channel).collect();
    devices.sort_unstable_by(|a, b| (a.registered_at, &a.address).cmp(&(b.registered_at, &b.address)));
    devices
}

/// Pushes to all of a user's devices at once.
async fn push_devices(
    parts: &Parts,
    line: &Line,
    pushes: &[Push<'_>],
) -> OfDevices<Result<(), Option<Fault>>> {
    match pushes {
        [one] => smallvec![push_device(parts, line, one).await],
        all => join_all(all.iter().map(|push| push_device(parts, line, push))).await.into(),
    }
}

/// Pushes to one device when there is quota; `None` when its deadline passed meanwhile.
async fn push_device(parts: &Parts, line: &Line, push: &Push<'_>) -> Result<(), Option<Fault>> {
    let Ok(permit) = line.limits.acquire(parts.settings.quota_wait.0).await else {
        return Err(Some(Fault::Throttled { after: None }));
    };
    if permit.waited() && parts.clock.now() >= push.deadline {
        return Err(None);
    }
    let end = line.channel.push(push).await;
    match &end {
        Ok(()) => line.accepted(),
        Err(Fault::Throttled { after }) => line.throttle(*after, &parts.settings),
        // others are accepted: it is this push alone that is not
        Err(Fault::Stopped { detail }) if line.takes_others() => {
            return Err(Some(Fault::Refused { detail: detail.clone() }));
        }
        Err(Fault::Stopped { detail }) => {
            if line.limits.paused().is_none() {
                tracing::error!(channel = %line.name, detail, "the channel takes nothing as it is set up; it rests");
            }
            line.limits.throttle(STOPPED);
        }
        Err(Fault::Refused { .. } | Fault::Retry { .. } | Fault::NoAnswer | Fault::DeviceGone { .. }) => {}
    }
    end.map_err(Some)
}

/// The outcome of a user none of whose devices accepted: what leaves hope goes before what does not.
fn together(faults: &[Fault], campaign: &Campaign, line: &Line, user: &User) -> Pushed {
    let any = |wanted: fn(&Fault) -> bool| faults.iter().any(wanted);
    if any(|f| matches!(f, Fault::NoAnswer)) {
        return Pushed::NoAnswer;
    }
    if any(|f| matches!(f, Fault::Retry { .. })) {
        let retries = faults.iter().filter_map(|f| match f {
            Fault::Retry { after, maybe } => Some((*after, *maybe)),
            _ => None,
        });
        let (after, maybe) = retries.fold((None, false), |(a, m), (after, maybe)| (a.max(after), m || maybe));
        return Pushed::Failed { after, maybe };
    }
    if any(|f| matches!(f, Fault::Throttled { .. } | Fault::Stopped { .. })) {
        return Pushed::Released;
    }
    if any(|f| matches!(f, Fault::Refused { .. })) {
        return Pushed::Closed(Reason::Refused);
    }
    elsewhere(campaign, line, user).map_or(Pushed::NoChannelLeft, Pushed::Move)
}

/// The next channel of the campaign on which the user has a device.
fn elsewhere(campaign: &Campaign, line: &Line, user: &User) -> Option<ChannelName> {
    let after = campaign.channels.iter().skip_while(|c| **c != line.name).skip(1);
    after.into_iter().find(|c| user.devices.iter().any(|d| d.channel == **c)).cloned()
}
