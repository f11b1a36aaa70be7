use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;

/// The longest line that is read, in bytes.
const LONGEST: u64 = 64 << 10;
/// Bytes read at once.
const BUFFER: usize = 1 << 20;

/// Opens a file of lines, gzip or not: its first bytes tell.
pub(crate) fn open(path: &Path) -> io::Result<Lines<Box<dyn BufRead>>> {
    let mut file = BufReader::with_capacity(BUFFER, File::open(path)?);
    let zipped = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let from: Box<dyn BufRead> = match zipped {
        true => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file))),
        false => Box::new(file),
    };
    Ok(Lines::new(from))
}

/// Lines of a stream, one at a time in one buffer: the size of the stream does not matter.
pub(crate) struct Lines<R> {
    from: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, line: Vec::new(), number: 0 }
    }

    /// The next line that is not empty, with its number from 1, without its line break; `Err` in it for one that is too
    /// long, which is passed over.
    #[allow(clippy::type_complexity, reason = "the inner result is the line's, the outer the stream's")]
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Result<&[u8], String>)>> {
        loop {
            self.line.clear();
            let read = (&mut self.from).take(LONGEST + 1).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let whole = self.line.last() == Some(&b'\n');
            if !whole && u64::try_from(read).is_ok_and(|read| read > LONGEST) {
                self.pass_over()?;
                return Ok(Some((self.number, Err(format!("the line is longer than {LONGEST} bytes")))));
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some((self.number, Ok(self.line.trim_ascii()))))
    }

    /// Reads on to the end of a line, and keeps nothing of it.
    fn pass_over(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.from.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            match bytes.iter().position(|&b| b == b'\n') {
                Some(at) => {
                    self.from.consume(at + 1);
                    return Ok(());
                }
                None => {
                    let all = bytes.len();
                    self.from.consume(all);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn all<R: BufRead>(mut lines: Lines<R>) -> Vec<(u64, Option<String>)> {
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            found.push((number, line.ok().map(|l| String::from_utf8(l.to_vec()).unwrap())));
        }
        found
    }

    #[test]
    fn empty_lines_count_and_long_ones_are_passed_over() {
        let long = "x".repeat(usize::try_from(LONGEST).unwrap() * 3);
        let text = format!("a\r\n\n{long}\nb\n{long}");
        let found = all(Lines::new(text.as_bytes()));
        assert_eq!(found, [(1, Some("a".into())), (3, None), (4, Some("b".into())), (5, None)]);
        let fits = "y".repeat(usize::try_from(LONGEST).unwrap());
        assert_eq!(all(Lines::new(fits.as_bytes())), [(1, Some(fits))]);
    }

    #[test]
    fn zipped_or_not_and_in_several_members() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("receipts");
        let zip = |text: &str| {
            let mut zip = GzEncoder::new(Vec::new(), Compression::fast());
            zip.write_all(text.as_bytes()).unwrap();
            zip.finish().unwrap()
        };
        for bytes in [b"1\n2\n".to_vec(), [zip("1\n"), zip("2")].concat()] {
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(all(open(&path).unwrap()), [(1, Some("1".into())), (2, Some("2".into()))]);
        }
        let cut = zip("1\n2\n");
        std::fs::write(&path, &cut[..cut.len() - 9]).unwrap();
        let mut lines = open(&path).unwrap();
        let mut ends = std::iter::from_fn(|| lines.next().map(|line| line.map(drop)).transpose());
        assert!(ends.any(|end| end.is_err()), "a file that was cut off is no proof");
    }
}
