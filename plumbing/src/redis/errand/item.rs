use std::{mem, time::Duration};

use ::redis::{Cmd, Pipeline, cmd};

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

/// The commands as they are sent; they leave their items for it. `mark` is the write that replicas are waited for with.
pub(super) fn pack(piece: &mut [Item], kind: Kind, mark: Option<Cmd>) -> Pipeline {
    let mut packed = Pipeline::with_capacity(piece.len() + 2);
    for item in piece {
        if let (true, Some(script)) = (item.load, &item.command.script) {
            packed.add_command(script.load());
        }
        if matches!(item.to, To::Asking(_)) {
            packed.add_command(cmd("ASKING"));
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

/// The items of a piece that was sent, with their commands, to be sent again to whoever has their keys.
pub(super) fn unpack(piece: Vec<Item>, packed: &Pipeline) -> Vec<Item> {
    let mut commands = packed.cmd_iter();
    let back = |mut item: Item| {
        item.command.packed = commands.nth(item.before())?.clone();
        Some(Item { to: To::Owner, cut: true, ..item })
    };
    piece.into_iter().filter_map(back).collect()
}
