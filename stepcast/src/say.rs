//! What commands print. A reader that goes away, as `head` does, ends the command quietly instead of by a panic.

use std::{fmt, io::Write, process};

/// Prints a line on standard output.
macro_rules! say {
    () => { $crate::say::line(format_args!("")) };
    ($($text:tt)*) => { $crate::say::line(format_args!($($text)*)) };
}

pub(crate) use say;

/// The line behind [`say!`].
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        // nobody reads on: there is nobody to tell either
        process::exit(0);
    }
}
