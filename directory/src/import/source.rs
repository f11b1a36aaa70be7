use std::{
    io::{self, BufRead, BufReader, Cursor, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::bufread::MultiGzDecoder;

/// The first bytes of a gzip member (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Bytes asked for at a time.
const CHUNK: usize = 64 << 10;

/// How many bytes have been taken from a file.
#[derive(Clone, Default)]
pub(super) struct Counter(Arc<AtomicU64>);

impl Counter {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The text of a file, unpacked if its first bytes say gzip, and the count of its bytes as they are stored.
pub(super) fn unpacked(reader: Box<dyn Read + Send>) -> io::Result<(Box<dyn BufRead + Send>, Counter)> {
    let counter = Counter::default();
    let mut counted = Counted { reader, counter: counter.clone() };
    let mut head = Vec::with_capacity(GZIP.len());
    counted.by_ref().take(GZIP.len() as u64).read_to_end(&mut head)?;
    let packed = head == GZIP;
    let whole = BufReader::with_capacity(CHUNK, Cursor::new(head).chain(counted));
    if packed {
        return Ok((Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(whole))), counter));
    }
    Ok((Box::new(whole), counter))
}

struct Counted {
    reader: Box<dyn Read + Send>,
    counter: Counter,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(to)?;
        self.counter.0.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
