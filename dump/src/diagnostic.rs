//! Diagnostics of a dump, with their places.

use etw_layouts_etl as etl;
use etw_layouts_etl::Uuid;
use etw_layouts_memory::ReadError;
use std::fmt;

/// A diagnostic of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The offset in the file, in bytes.
    pub offset: u64,
    /// The kind of diagnostic.
    pub kind: DiagnosticKind,
}

/// Maximum number of diagnostics kept for a dump, or for the events of a session.
const MAX_DIAGNOSTICS: usize = 1 << 16;

/// Adds a diagnostic, up to the maximum.
pub(crate) fn report(diagnostics: &mut Vec<Diagnostic>, offset: u64, kind: DiagnosticKind) {
    if diagnostics.len() < MAX_DIAGNOSTICS {
        diagnostics.push(Diagnostic { offset, kind });
    }
}

/// A kind of diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The file ends within a part.
    Truncated {
        /// The part.
        part: &'static str,
        /// Size of the part, in bytes.
        size: u64,
        /// Number of bytes present.
        present: u64,
    },
    /// Data blocks extend beyond the end of the file.
    Blocks {
        /// Number of such blocks.
        count: u64,
        /// Number of missing bytes.
        missing: u64,
        /// Address of the first such block in the list.
        first: u64,
        /// Address of the last such block in the list.
        last: u64,
    },
    /// The list of data blocks is longer than the header states; all are read.
    Count {
        /// The number in the header.
        stated: u32,
        /// The actual number.
        found: u32,
    },
    /// This many bytes, beginning here, belong to no data block or other part.
    Unnamed(u64),
    /// The data blocks have more bytes than the file; the rest of the list is skipped.
    Overlap,
    /// The end signature of a complete dump is missing.
    Unfinished,
    /// Pages are listed twice; the run that begins first is used.
    Repeated,
    /// The page tables in the header do not map the list of modules at this address.
    Tables(u64),
    /// Bytes in the file cannot be read: they count as missing.
    Failed(ReadError),
    /// The list of modules is corrupt.
    Modules(String),
    /// The image of the kernel, or its start, is not in the dump.
    NoImage,
    /// The header states a size that contradicts the position of the end signature; the position is used.
    Size {
        /// The size in the header.
        stated: u32,
    },
    /// The bytes after the dump do not begin with the header of secondary data.
    NoBlobs,
    /// The sizes in the header of a secondary data block are wrong: the block is assumed to end where the next one begins.
    BlobSize {
        /// The size of the data in the header.
        stated: u32,
        /// Number of bytes up to the next block.
        found: u64,
    },
    /// A secondary data block contains ETW data but has another tag.
    Tag(Uuid),
    /// Another dump begins at this offset of the file. It is skipped with all that follows.
    Another(u64),
    /// The size in a header is invalid.
    HeaderSize {
        /// The header.
        header: &'static str,
        /// The size in the header.
        size: u32,
    },
    /// A session is expected, but its signature is this value.
    NoSession(u32),
    /// A buffer is expected, but neither the size nor the number of the session matches.
    NoBuffer,
    /// This many bytes, beginning here, are skipped, up to the next session or buffer.
    Skipped(u64),
    /// The valid end of a buffer, at this offset, is outside the buffer or within the next one.
    Offset(u32),
    /// The size of a buffer differs from that of its session.
    BufferSize {
        /// The size in the session.
        session: u32,
        /// The size in the buffer.
        buffer: u32,
    },
    /// The session number of a buffer differs from that of the session it is in.
    Logger {
        /// The number of the session.
        session: u32,
        /// The number in the buffer.
        buffer: u16,
    },
    /// The session states this unknown clock; the performance counter is assumed.
    Clock(u32),
    /// The length of a session's name is wrong: the name is read up to its terminator, and reading continues with the next buffer
    /// or session.
    NameLength {
        /// The length that the session states, in bytes.
        stated: u32,
        /// The length used, in bytes.
        found: u32,
    },
    /// The clock rate of a session is unknown.
    Rate,
    /// The system time that corresponds to the clock of a session is unknown.
    Reference,
    /// A compressed buffer cannot be decompressed completely; the cause.
    Compressed(String),
    /// A diagnostic of an event.
    Event(etl::DiagnosticKind),
}

impl DiagnosticKind {
    /// Name of the kind of diagnostic, independent of its numbers.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Truncated { .. } | Self::Blocks { .. } => "truncated",
            Self::Count { .. } => "block-count",
            Self::Unnamed(_) => "unnamed-bytes",
            Self::Overlap => "overlapping-blocks",
            Self::Unfinished => "unfinished",
            Self::Repeated => "repeated-pages",
            Self::Tables(_) => "page-tables",
            Self::Failed(_) => "read-error",
            Self::Modules(_) => "modules",
            Self::NoImage => "no-kernel-image",
            Self::Size { .. } => "dump-size",
            Self::NoBlobs => "secondary-data",
            Self::BlobSize { .. } => "secondary-data-size",
            Self::Tag(_) => "tag",
            Self::Another(_) => "another-dump",
            Self::HeaderSize { .. } => "header-size",
            Self::NoSession(_) => "no-session",
            Self::NoBuffer => "no-buffer",
            Self::Skipped(_) => "skipped",
            Self::Offset(_) => "valid-end",
            Self::BufferSize { .. } => "buffer-size",
            Self::Logger { .. } => "logger",
            Self::Clock(_) => "clock",
            Self::NameLength { .. } => "name-length",
            Self::Rate => "clock-rate",
            Self::Reference => "reference-time",
            Self::Compressed(_) => "compressed",
            Self::Event(kind) => kind.name(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:#x}: {}", self.offset, self.kind)
    }
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { part, size, present } => {
                write!(f, "truncated: {present:#x} of {size:#x} bytes of {part} are in the file")
            }
            Self::Blocks { count: 1, missing, first, .. } => {
                write!(f, "truncated data block at {first:#x}: {missing:#x} bytes are missing")
            }
            Self::Blocks { count, missing, first, last } => {
                write!(f, "{count} truncated data blocks, from {first:#x} to {last:#x}: {missing:#x} bytes are missing")
            }
            Self::Count { stated, found } => {
                write!(f, "wrong number of data blocks: the list has {found}, the header states {stated}; all are read")
            }
            Self::Unnamed(bytes) => {
                write!(
                    f,
                    "unlisted data: {bytes:#x} bytes from here on are in no data block; the list of data blocks may be corrupt"
                )
            }
            Self::Overlap => f.write_str("data blocks exceed the file size: the rest of the list is skipped"),
            Self::Unfinished => f.write_str("incomplete dump: end signature TRGD is missing"),
            Self::Repeated => f.write_str("duplicate pages from here on; using the first ones"),
            Self::Tables(list) => {
                write!(f, "invalid page tables: cannot read the module list at {list:#x}; all addresses can be wrong")
            }
            Self::Failed(error) => write!(f, "cannot read a part of the file: {error}; copy the file again"),
            Self::Modules(error) => write!(f, "invalid module list: {error}"),
            Self::NoImage => f.write_str("kernel image is not in the dump; its symbols are unknown"),
            Self::Size { stated } => {
                write!(f, "wrong dump size: the header states {stated:#x} bytes, but the end signature TRGD is here")
            }
            Self::NoBlobs => {
                f.write_str("missing DumpBlob signature after the dump: secondary data is read from the first valid block on")
            }
            Self::BlobSize { stated, found } => {
                write!(
                    f,
                    "wrong size of a secondary data block: the header states {stated:#x} bytes of data, the next block follows after {found:#x}"
                )
            }
            Self::Tag(tag) => {
                write!(f, "unknown tag {tag}: the secondary data block contains ETW sessions and is read as ETW data")
            }
            Self::Another(offset) => write!(f, "second dump in the file: not read; split the file at offset {offset:#x}"),
            Self::HeaderSize { header, size } => write!(f, "invalid size of {header}: {size:#x} bytes"),
            Self::NoSession(found) => {
                write!(f, "invalid session signature: {found:#010x}, expected 0x01ebafe1; continuing with the next session")
            }
            Self::NoBuffer => f.write_str("invalid buffer header: neither size nor number matches the session"),
            Self::Skipped(bytes) => {
                write!(f, "skipped {bytes:#x} bytes up to the next session, buffer or end of data")
            }
            Self::Offset(offset) => {
                write!(
                    f,
                    "wrong end of the events in the buffer: offset {offset:#x} is outside the buffer or inside the next buffer"
                )
            }
            Self::BufferSize { session, buffer } => {
                write!(f, "wrong buffer size: buffer states {buffer:#x} bytes, session {session:#x}")
            }
            Self::Logger { session, buffer } => {
                write!(f, "buffer is of session {buffer}, but is listed under session {session}")
            }
            Self::Clock(clock) => {
                write!(f, "unknown clock {clock}: assuming the performance counter")
            }
            Self::NameLength { stated, found } => {
                write!(f, "invalid name length: {stated:#x} bytes; using {found:#x}")
            }
            Self::Rate => f.write_str("unknown clock rate: events have no times"),
            Self::Reference => f.write_str("unknown system time of the clock: events have no times"),
            Self::Compressed(why) => write!(f, "cannot decompress the whole buffer: {why}"),
            Self::Event(kind) => kind.fmt(f),
        }
    }
}
