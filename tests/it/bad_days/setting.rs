use std::fmt::Write as _;

use rig::SECRET;

/// The settings of a fleet: quick nights over these servers.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// URLs of the stores' servers.
    pub(super) stores: Vec<String>,
    /// Whether they are a cluster.
    pub(super) cluster: bool,
    /// What survives of an answer.
    pub(super) durability: &'static str,
    /// URL of the broker, without the user.
    pub(super) queue: String,
    /// What every key and queue begins with.
    pub(super) prefix: String,
    /// Parts the users are divided into.
    pub(super) shards: u32,
    /// Seconds over which the pushes are spread.
    pub(super) window: u32,
    /// Users of a batch in flight unrecorded.
    pub(super) chunk: usize,
    /// Batches of a channel worked on at once.
    pub(super) at_once: usize,
    /// Where pushes go: `http://HOST:PORT/in`.
    pub(super) receiver: String,
    /// Lines of `[channels.hook.quota]`.
    pub(super) quota: &'static str,
}

impl Setting {
    /// The most pushes of one sender that are in flight and not recorded.
    pub(super) fn in_flight(&self) -> usize {
        self.chunk * self.at_once
    }

    /// As TOML.
    pub(super) fn toml(&self) -> String {
        let Self {
            stores,
            cluster,
            durability,
            queue,
            prefix,
            shards,
            window,
            chunk,
            at_once,
            receiver,
            quota,
        } = self;
        let mut toml = format!(
            "[stores]\nkind = \"redis\"\nurls = {stores:?}\ncluster = {cluster}\nprefix = \"{prefix}\"\n\
             durability = \"{durability}\"\ntimeout = \"1s\"\nconnections = 2\n\
             [queue]\nkind = \"rabbitmq\"\nurl = \"{queue}\"\nusername = \"guest\"\npassword = \"guest\"\nprefix = \"{prefix}\"\n\
             heartbeat = \"2s\"\nconfirm_timeout = \"3s\"\n\
             [scheduler]\nlease = \"1s\"\nshards = {shards}\n\
             [sender]\nchunk = {chunk}\nbatches_at_once = {at_once}\nattempts = 3\nlease = \"4s\"\n\
             ladder = [\"200ms\", \"1s\", \"5s\"]\nbackoff = \"200ms\"\nlongest_backoff = \"1s\"\nquota_wait = \"500ms\"\n\
             [campaigns.nightly]\nwindow = {window}\nchannels = [\"hook\"]\n"
        );
        let _ = write!(
            toml,
            "[channels.hook]\nkind = \"webhook\"\nurl = \"{receiver}\"\nsecret = \"{SECRET}\"\nallow_private = true\n\
             timeout = \"2s\"\n"
        );
        if self.durability == "replicated" {
            toml = toml.replace("[queue]", "replicas = 1\n[queue]");
        }
        if !quota.is_empty() {
            let _ = write!(toml, "[channels.hook.quota]\n{quota}\n");
        }
        toml
    }
}
