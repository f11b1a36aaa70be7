//! Users in bulk from a file, row by row: memory does not grow with the file, and a bad row spoils no other.

mod csv;
mod format;
mod lines;
mod source;

use std::io::Read;

use csv::Header;
pub use format::Format;
pub use lines::LONGEST_LINE;
use lines::{Line, Lines};
use source::{Counter, unpacked};

use crate::{Change, Refusal, parse_line};

/// A row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its line, from 1; a CSV header is line 1.
    pub line: u64,
    /// What it says.
    pub change: Change,
}

/// A row that cannot be taken, or the end of a file that cannot be read on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {field}: {reason}")]
pub struct RowError {
    /// Its line, from 1.
    pub line: u64,
    /// The field at fault; `line` for the whole of it, `file` where reading failed.
    pub field: String,
    /// What is wrong. Shows neither a name nor an address.
    pub reason: String,
}

/// The rows of a file of users, CSV or NDJSON, plain or gzip (told by its first bytes, several members allowed).
///
/// A row is one line of at most [`LONGEST_LINE`] bytes in UTF-8; a byte order mark, `CRLF` and blank lines are
/// fine. NDJSON is as [`parse_line`] has it. CSV (RFC 4180, but no line break inside quotes) has a header with these
/// columns in any order:
///
/// | column | value; when empty or without the column |
/// | --- | --- |
/// | `uid` | required: digits without sign or leading zeros |
/// | `zone` | a time-zone name; required unless `deleted` |
/// | `language` | a BCP 47 tag; `en` |
/// | `region` | a name; `main` |
/// | `consent` | `true`, `false`, `1`, `0`, `yes`, `no` in any case; true |
/// | `consent_at` | RFC 3339; see [`NewUser`](crate::NewUser) |
/// | `name` | a text; empty |
/// | `devices` | `channel:address`, several separated by a bar; none. An address with a bar needs NDJSON |
/// | `deleted` | as `consent`; false. When true only `uid` is looked at |
pub struct UserRows {
    lines: Lines,
    header: Option<Header>,
    read: Counter,
    ended: bool,
}

impl UserRows {
    /// Begins to read. Fails where the file cannot be read, or its CSV header lacks or repeats a column or has one
    /// that is not known.
    pub fn open(reader: Box<dyn Read + Send>, format: Format) -> Result<Self, RowError> {
        let (source, read) = unpacked(reader).map_err(|e| unreadable(1, &e))?;
        let mut rows = Self { lines: Lines::new(source), header: None, read, ended: false };
        if format == Format::Csv {
            rows.header = Some(rows.read_header()?);
        }
        Ok(rows)
    }

    /// Bytes taken from the file as it is stored, so that progress can be told from its size.
    pub fn bytes_read(&self) -> u64 {
        self.read.get()
    }

    fn read_header(&mut self) -> Result<Header, RowError> {
        match self.lines.next() {
            Ok(Some(Line::Whole(text))) => {
                Header::parse(text).map_err(|refusal| RowError::of(self.lines.number(), refusal))
            }
            Ok(Some(Line::TooLong)) => Err(RowError::of(self.lines.number(), lines::too_long())),
            Ok(None) => Err(RowError::of(
                1,
                Refusal::new("uid", "the file is empty: a header with this column is wanted"),
            )),
            Err(error) => Err(unreadable(self.lines.number(), &error)),
        }
    }
}

impl Iterator for UserRows {
    type Item = Result<Row, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let parsed = match self.lines.next() {
            Ok(Some(Line::Whole(text))) => match &self.header {
                Some(header) => header.row(text),
                None => parse_line(text),
            },
            Ok(Some(Line::TooLong)) => Err(lines::too_long()),
            Ok(None) => {
                self.ended = true;
                return None;
            }
            Err(error) => {
                self.ended = true;
                return Some(Err(unreadable(self.lines.number(), &error)));
            }
        };
        let line = self.lines.number();
        Some(parsed.map(|change| Row { line, change }).map_err(|refusal| RowError::of(line, refusal)))
    }
}

/// The lines of a text file, gzip or not: CRLF, a byte order mark and blank lines are fine.
pub struct TextLines {
    lines: Lines,
    read: Counter,
}

impl TextLines {
    /// Begins to read.
    pub fn open(reader: Box<dyn Read + Send>) -> std::io::Result<Self> {
        let (source, read) = unpacked(reader)?;
        Ok(Self { lines: Lines::new(source), read })
    }

    /// The next line that is not blank, without its end; refused when it is longer than [`LONGEST_LINE`], and then skipped
    /// without being held. `None` at the end.
    pub fn next_line(&mut self) -> std::io::Result<Option<Result<&[u8], Refusal>>> {
        Ok(self.lines.next()?.map(|line| match line {
            Line::Whole(text) => Ok(text),
            Line::TooLong => Err(lines::too_long()),
        }))
    }

    /// The number of the line read last, from 1.
    pub fn number(&self) -> u64 {
        self.lines.number()
    }

    /// Bytes taken from the file as it is stored.
    pub fn bytes_read(&self) -> u64 {
        self.read.get()
    }
}

impl RowError {
    fn of(line: u64, Refusal { field, reason }: Refusal) -> Self {
        Self { line, field, reason }
    }
}

fn unreadable(line: u64, error: &std::io::Error) -> RowError {
    RowError::of(line, Refusal::new("file", format!("cannot be read: {error}")))
}

#[cfg(test)]
#[path = "import/tests.rs"]
mod tests;
