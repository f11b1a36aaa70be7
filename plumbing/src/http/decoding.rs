use std::io::Write;

use axum::http::{HeaderMap, header};
use flate2::write::MultiGzDecoder;
use zstd::stream::raw::{Decoder as ZstdDecoder, InBuffer, Operation, OutBuffer};

/// Unpacks a body piece by piece, into a buffer that is emptied after each.
pub(super) enum Decoding {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zstd { decoder: Box<ZstdDecoder<'static>>, whole: bool },
}

/// Why a body cannot be unpacked.
pub(super) enum Fault {
    /// It is packed in a way that is not taken.
    Unknown,
    /// It is not what its header says, or it ends too soon.
    Broken,
}

/// Bytes unpacked at once: how far past a bound an unpacking goes.
const STEP: usize = 64 << 10;
/// Bytes of a packed piece that are looked at together: they may unpack to a thousand times as many.
const BITE: usize = 64;
/// The largest window of zstd, as a power of two: 8 MiB, which every encoder keeps to by default.
const WINDOW: u32 = 23;

impl Decoding {
    /// What a body's header says. One that is packed twice is not taken.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Fault> {
        let mut named = headers.get_all(header::CONTENT_ENCODING).iter();
        let name = match (named.next(), named.next()) {
            (None, _) => return Ok(Self::Plain),
            (Some(name), None) => name.to_str().map_err(|_| Fault::Unknown)?,
            (Some(_), Some(_)) => return Err(Fault::Unknown),
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::with_capacity(STEP))))),
            "zstd" => {
                let mut decoder = ZstdDecoder::new().map_err(|_| Fault::Broken)?;
                let window = zstd::stream::raw::DParameter::WindowLogMax(WINDOW);
                decoder.set_parameter(window).map_err(|_| Fault::Broken)?;
                Ok(Self::Zstd { decoder: Box::new(decoder), whole: true })
            }
            _ => Err(Fault::Unknown),
        }
    }

    /// Takes a piece, and hands on what it unpacks to, a little at a time; `take` answers whether it wants more.
    pub(super) fn piece(&mut self, piece: &[u8], take: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Fault> {
        match self {
            Self::Plain => {
                take(piece);
                Ok(())
            }
            Self::Gzip(decoder) => {
                for bite in piece.chunks(BITE) {
                    decoder.write_all(bite).map_err(|_| Fault::Broken)?;
                    let wanted = decoder.get_ref().is_empty() || take(decoder.get_ref());
                    decoder.get_mut().clear();
                    if !wanted {
                        break;
                    }
                }
                Ok(())
            }
            Self::Zstd { decoder, whole } => {
                let (mut from, mut space) = (InBuffer::around(piece), vec![0; STEP]);
                loop {
                    let mut to = OutBuffer::around(&mut space[..]);
                    let left = decoder.run(&mut from, &mut to).map_err(|_| Fault::Broken)?;
                    let full = to.pos() == STEP;
                    let written = to.pos();
                    *whole = left == 0;
                    if written > 0 && !take(&space[..written]) {
                        return Ok(());
                    }
                    // a full space may not have been all, unless the frame is over: one more look would begin the next
                    if from.pos() == piece.len() && (*whole || !full) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The body has ended; hands on what is left of it.
    pub(super) fn end(self, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Fault> {
        match self {
            Self::Plain => Ok(()),
            Self::Gzip(decoder) => {
                let rest = decoder.finish().map_err(|_| Fault::Broken)?;
                take(&rest);
                Ok(())
            }
            Self::Zstd { whole: true, .. } => Ok(()),
            Self::Zstd { whole: false, .. } => Err(Fault::Broken),
        }
    }
}
