//! What the fuzz targets reach of the decoders of bytes in the broker; not built otherwise.

pub use crate::rabbitmq::fuzzing::dead_letter;
