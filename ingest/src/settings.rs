use std::{net::SocketAddr, num::NonZeroU32};

use serde::Deserialize;

/// The settings of ingest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where phones and back ends reach it.
    pub listen: SocketAddr,
    /// Items a second that one API key may send.
    pub key_items_per_second: NonZeroU32,
    /// Items a minute that one user's token may send.
    pub user_items_per_minute: NonZeroU32,
    /// Bytes that all bodies together may take, in MiB.
    pub bodies_mib: NonZeroU32,
}
