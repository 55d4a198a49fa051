//! Plain XPRESS, the LZ77 format of \[MS-XCA\] 2.3 and 2.4, in which a logger compresses its buffers.
//!
//! A stream is a sequence of 32 flags, highest bit first, each followed by the items that they announce: a literal byte (0) or a
//! match (1), a copy of 3 bytes or more from up to 8192 bytes back. It has no length and no checksum of its own: whoever keeps a
//! stream keeps its decompressed size too.

mod bulk;
mod decode;
mod encode;
mod state;

pub use decode::{Error, Reason, decompress};
pub use encode::compress;

/// The least length of a match.
const SHORTEST: usize = 3;

/// The greatest distance of a match.
const FARTHEST: usize = 8192;
