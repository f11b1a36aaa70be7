use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::Wait;

/// Places for pushes in flight. Their number may change while some are taken: what is too many then is taken off as they
/// come back.
#[derive(Debug)]
pub(super) struct InFlight {
    places: Arc<Semaphore>,
    size: Arc<Mutex<Size>>,
}

#[derive(Debug)]
struct Size {
    most: usize,
    /// Places that are out and do not come back.
    owed: usize,
}

/// One place in flight, given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    place: Option<OwnedSemaphorePermit>,
    size: Arc<Mutex<Size>>,
}

impl InFlight {
    pub(super) fn new(most: NonZeroU32) -> Self {
        let most = places(most);
        Self { places: Arc::new(Semaphore::new(most)), size: Arc::new(Mutex::new(Size { most, owed: 0 })) }
    }

    /// Changes how many there are.
    pub(super) fn set(&self, most: NonZeroU32) {
        let most = places(most);
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        if most > size.most {
            let more = most - size.most;
            let kept = more.min(size.owed);
            size.owed -= kept;
            self.places.add_permits(more - kept);
        } else {
            let fewer = size.most - most;
            size.owed += fewer - self.places.forget_permits(fewer);
        }
        size.most = most;
    }

    /// Takes a place, waiting until `until` at most, which is in `most`.
    pub(super) async fn take(&self, until: Instant, most: Duration) -> Result<Place, Wait> {
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => place,
            // how long others keep theirs is not known: what was too short may do the next time
            Err(_) => match timeout_at(until, Arc::clone(&self.places).acquire_owned()).await {
                Ok(Ok(place)) => place,
                Ok(Err(_)) | Err(_) => return Err(Wait(most)),
            },
        };
        Ok(Place { place: Some(place), size: Arc::clone(&self.size) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        if size.owed > 0
            && let Some(place) = self.place.take()
        {
            size.owed -= 1;
            place.forget();
        }
    }
}

fn places(most: NonZeroU32) -> usize {
    usize::try_from(most.get()).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS)
}
