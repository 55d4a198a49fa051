//! Plain XPRESS, the LZ77 format of \[MS-XCA\] 2.3 and 2.4, with which sessions compress their buffers.
//!
//! A stream consists of groups: 32 flags, highest bit first, followed by the items that they describe. An item is a literal byte
//! (0) or a match (1), a copy of 3 bytes or more from up to 8192 bytes back. A stream records neither its length nor a checksum:
//! the container has to store the decompressed size.

mod bulk;
mod decode;
mod encode;
mod state;

pub use decode::{Error, ErrorKind, decompress};
pub use encode::compress;

/// The least length of a match.
const SHORTEST: usize = 3;

/// The greatest distance of a match.
const FARTHEST: usize = 8192;
