use ::redis::{Cmd, ToRedisArgs};

use super::{Script, redis_slot};

/// One command for a Redis server: its name, then keys and arguments in the order that the server wants them.
///
/// `key` says what routes the command on a cluster. All keys of a command must lie in one slot; one that has keys in
/// two is refused when it is run, on a single server too, so that it does not first fail on a cluster.
pub struct Command {
    pub(super) name: &'static str,
    pub(super) packed: Cmd,
    pub(super) script: Option<Script>,
    place: Place,
}

/// Where the keys of a command lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    NoKey,
    In(u16),
    InTwo,
}

impl Command {
    /// A command without anything yet, such as `MGET`.
    pub fn new(name: &'static str) -> Self {
        Self::of(name, name, None)
    }

    pub(super) fn of(name: &'static str, verb: &str, script: Option<Script>) -> Self {
        let mut packed = Cmd::new();
        packed.arg(verb);
        Self { name, packed, script, place: Place::NoKey }
    }

    /// The next argument is this key.
    #[must_use]
    pub fn key(mut self, key: impl AsRef<[u8]>) -> Self {
        let key = key.as_ref();
        let slot = redis_slot(key);
        self.place = match self.place {
            Place::NoKey => Place::In(slot),
            Place::In(other) if other == slot => self.place,
            Place::In(_) | Place::InTwo => Place::InTwo,
        };
        self.packed.arg(key);
        self
    }

    /// The next argument, which is no key; several where the value is a list (bytes are one).
    #[must_use]
    pub fn arg(mut self, value: impl ToRedisArgs) -> Self {
        self.packed.arg(value);
        self
    }

    /// The slot of its keys; `None` where it has none, or has keys in two.
    pub fn slot(&self) -> Option<u16> {
        match self.place {
            Place::In(slot) => Some(slot),
            Place::NoKey | Place::InTwo => None,
        }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> String {
        String::from_utf8(command.packed.get_packed_command()).unwrap().replace("\r\n", " ")
    }

    #[test]
    fn keys_and_arguments_stand_in_their_order() {
        let command = Command::new("SET").key("{a}:x").arg(5).arg("PX").arg(1_000);
        assert_eq!(words(&command), "*5 $3 SET $5 {a}:x $1 5 $2 PX $4 1000 ");
        assert_eq!(command.slot(), Some(redis_slot(b"a")));
    }

    #[test]
    fn a_script_has_its_keys_counted() {
        let script = Script::new("twice", "return 2");
        let command = script.call(&["{a}:x", "{a}:y"]).arg(7);
        let wanted = format!("*6 $7 EVALSHA $40 {} $1 2 $5 {{a}}:x $5 {{a}}:y $1 7 ", script.digest());
        assert_eq!(words(&command), wanted);
        assert_eq!(command.name, "twice");
    }

    #[test]
    fn keys_in_two_slots_are_noticed() {
        assert_eq!(Command::new("MGET").key("{a}:x").key("{a}:y").place(), Place::In(redis_slot(b"a")));
        assert_eq!(Command::new("MGET").key("{a}:x").key("{b}:x").key("{a}:y").place(), Place::InTwo);
        assert_eq!(Command::new("PING").place(), Place::NoKey);
    }
}
