use std::io::{self, BufRead, ErrorKind};

use crate::Refusal;

/// The longest line that is read, in bytes without its end.
pub const LONGEST_LINE: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of a text that are not blank. One that is too long is skipped without being held.
pub(super) struct Lines {
    from: Box<dyn BufRead + Send>,
    held: Vec<u8>,
    number: u64,
}

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Without its end, and not blank.
    Whole(&'a [u8]),
    /// Longer than [`LONGEST_LINE`].
    TooLong,
}

impl Lines {
    pub(super) fn new(from: Box<dyn BufRead + Send>) -> Self {
        Self { from, held: Vec::new(), number: 0 }
    }

    /// The number of the line read last, from 1; blank ones count.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.held.clear();
            // counted first, so that a failure is told of the line it struck
            self.number += 1;
            let Some(whole) = self.fill()? else { return Ok(None) };
            if !whole {
                return Ok(Some(Line::TooLong));
            }
            if self.held.last() == Some(&b'\r') {
                self.held.pop();
            }
            if self.number == 1 && self.held.starts_with(BYTE_ORDER_MARK) {
                self.held.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.held.trim_ascii().is_empty() {
                return Ok(Some(Line::Whole(&self.held)));
            }
        }
    }

    /// Reads up to the next line end; whether all of it is held, `None` when there is nothing left.
    fn fill(&mut self) -> io::Result<Option<bool>> {
        let (mut whole, mut any) = (true, false);
        loop {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            };
            if chunk.is_empty() {
                return Ok(any.then_some(whole));
            }
            any = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            // room for the `\r` and the mark that are taken off afterwards
            if self.held.len() + part.len() > LONGEST_LINE + BYTE_ORDER_MARK.len() + 1 {
                whole = false;
            } else if whole {
                self.held.extend_from_slice(part);
            }
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.from.consume(used);
            if end.is_some() {
                return Ok(Some(whole));
            }
        }
    }
}

/// What to tell of a line that is too long.
pub(super) fn too_long() -> Refusal {
    Refusal::new("line", format!("is longer than {LONGEST_LINE} bytes"))
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn all(text: &[u8]) -> Vec<(u64, Option<Vec<u8>>)> {
        // a small buffer, so that lines cross its edges
        let mut lines = Lines::new(Box::new(BufReader::with_capacity(7, Cursor::new(text.to_vec()))));
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            let line = match line {
                Line::Whole(text) => Some(text.to_vec()),
                Line::TooLong => None,
            };
            all.push((lines.number(), line));
        }
        all
    }

    #[test]
    fn marks_ends_and_blank_lines_are_taken_off() {
        let some = |n, text: &str| (n, Some(text.as_bytes().to_vec()));
        assert_eq!(
            all(b"\xef\xbb\xbfuid,zone\r\n\r\n  \n1,a\n2,b"),
            [some(1, "uid,zone"), some(4, "1,a"), some(5, "2,b")]
        );
        assert_eq!(all(b""), []);
        assert_eq!(all(b"\n\r\n"), []);
    }

    #[test]
    fn a_line_too_long_is_skipped_and_the_next_is_read() {
        let brim = vec![b'x'; LONGEST_LINE];
        let over = vec![b'y'; LONGEST_LINE * 40];
        let text = [&brim[..], b"\r\n", &over[..], b"\nlast"].concat();
        assert_eq!(all(&text), [(1, Some(brim)), (2, None), (3, Some(b"last".to_vec()))]);
    }
}
