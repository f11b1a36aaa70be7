use std::{mem, time::Duration};

use ::redis::{Arg, Cmd, Pipeline, cmd};

use super::super::{Command, address::Address};

/// What commands are for.
#[derive(Clone, Copy)]
pub(in super::super) enum Kind {
    /// They change nothing: where the connection was cut while nobody used it, they are tried on a new one.
    Read,
    /// They change something.
    Write,
    /// They change something, and so many replicas must acknowledge it within a limit.
    Replicated(u16, Duration),
}

/// One of the commands.
pub(super) struct Item {
    /// Its place among the answers.
    pub(super) at: usize,
    pub(super) command: Command,
    pub(super) to: To,
    /// Whether the server is to be told the script first.
    pub(super) load: bool,
    /// Whether it was on a connection that was cut.
    pub(super) cut: bool,
}

/// Where a command goes.
pub(super) enum To {
    Owner,
    /// A node says that the slot is this one's.
    Moved(Address),
    /// A node says that this key, if it is there, is on its way to this one.
    Asking(Address),
}

impl Item {
    /// A command that goes to whoever has its keys.
    pub(super) fn new(at: usize, command: Command) -> Self {
        Self { at, command, to: To::Owner, load: false, cut: false }
    }

    /// How many commands go before the command itself, whose answers are of no interest.
    pub(super) fn before(&self) -> usize {
        usize::from(self.load) + usize::from(matches!(self.to, To::Asking(_)))
    }
}

/// The commands as they are sent; they leave their items for it.
pub(super) fn pack(piece: &mut [Item], kind: Kind) -> Pipeline {
    let mut packed = Pipeline::with_capacity(piece.len() + 2);
    let mut mark = None;
    for item in piece {
        if let (true, Some(script)) = (item.load, &item.command.script) {
            packed.add_command(script.load());
        }
        let asking = matches!(item.to, To::Asking(_));
        if asking {
            packed.add_command(cmd("ASKING"));
        } else if mark.is_none() && matches!(kind, Kind::Replicated(..)) {
            mark = mark_beside(&item.command.packed);
        }
        packed.add_command(mem::take(&mut item.command.packed));
    }
    if let Kind::Replicated(replicas, limit) = kind {
        packed.add_command(mark.unwrap_or_else(|| cmd("PING")));
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1);
        packed.cmd("WAIT").arg(replicas).arg(limit);
    }
    packed
}

/// A write in the slot of a command's keys. A server (Redis 7.2 and later) waits for the replicas to have what this
/// connection wrote last: a command that is repeated, finds its work done and writes nothing would else not wait for what it
/// found, which another connection wrote.
fn mark_beside(command: &Cmd) -> Option<Cmd> {
    let tagged = command.args_iter().find_map(|arg| match arg {
        Arg::Simple(bytes) => Some(&bytes[..=bytes.iter().position(|&byte| byte == b'}')?]),
        _ => None,
    })?;
    let mut mark = cmd("SET");
    mark.arg([tagged, b":mark"].concat()).arg(1).arg("EX").arg(MARKED);
    Some(mark)
}

/// Seconds that a mark stays, since nobody reads it.
const MARKED: u32 = 60;

/// The items of a piece that was sent, with their commands, to be sent again to whoever has their keys.
pub(super) fn unpack(piece: Vec<Item>, packed: &Pipeline) -> Vec<Item> {
    let mut commands = packed.cmd_iter();
    let back = |mut item: Item| {
        item.command.packed = commands.nth(item.before())?.clone();
        Some(Item { to: To::Owner, cut: true, ..item })
    };
    piece.into_iter().filter_map(back).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(kind: Kind, commands: Vec<Command>) -> String {
        let mut piece: Vec<_> =
            commands.into_iter().enumerate().map(|(at, command)| Item::new(at, command)).collect();
        let packed = pack(&mut piece, kind).get_packed_pipeline();
        String::from_utf8(packed).unwrap().replace("\r\n", " ")
    }

    #[test]
    fn what_replicas_are_waited_for_ends_with_a_write_of_its_own() {
        let step =
            || vec![Command::new("GET").key("p:main:{n.1}:x"), Command::new("GET").key("p:main:{n.2}:x")];
        let text = sent(Kind::Replicated(2, Duration::from_millis(1_500)), step());
        let end = "$3 SET $17 p:main:{n.1}:mark $1 1 $2 EX $2 60 *3 $4 WAIT $1 2 $4 1500 ";
        assert!(text.ends_with(end), "{text}");
        assert!(!sent(Kind::Write, step()).contains("mark"));
    }
}
