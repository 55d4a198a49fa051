//! Diagnostics of a dump, with their places.

use etw_layouts_etl as etl;
use etw_layouts_etl::Guid;
use std::fmt;

/// A diagnostic of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where it is, in bytes from the start of the file.
    pub offset: u64,
    /// What is wrong.
    pub what: What,
}

/// How many findings of a dump, or of the events of a session, are kept.
const MOST: usize = 1 << 16;

/// Adds a finding.
pub(crate) fn find(findings: &mut Vec<Finding>, offset: u64, what: What) {
    if findings.len() < MOST {
        findings.push(Finding { offset, what });
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The file ends within something.
    Truncated {
        /// In what.
        what: &'static str,
        /// The bytes that it has.
        size: u64,
        /// The bytes that are there.
        there: u64,
    },
    /// Data blocks lie behind the end of the file, or end there.
    Blocks {
        /// How many.
        count: u64,
        /// The bytes that are missing of them.
        missing: u64,
        /// The address of the first one in the list.
        first: u64,
        /// The address of the last one in the list.
        last: u64,
    },
    /// The list of data blocks goes on behind as many as the header states; those are read too.
    Count {
        /// What the header states.
        stated: u32,
        /// How many there are.
        found: u32,
    },
    /// So many bytes, the first of them there, belong to no data block and no other part.
    Unnamed(u64),
    /// The list of data blocks gives more memory than the file has bytes; the rest of the list is left out.
    Overlap,
    /// The dump does not end with the letters that a whole one ends with.
    Unfinished,
    /// Pages are listed twice; those of the run that begins before hold.
    Repeated,
    /// The page tables that the header names do not lead to the list of modules, which is said to be here.
    Tables(u64),
    /// Something is wrong with the list of modules.
    Modules(String),
    /// The kernel's image is not in the dump, or what it begins with is not.
    NoImage,
    /// The header states another size of the dump than the place of its last letters does; theirs holds.
    Size {
        /// What it states.
        stated: u32,
    },
    /// What follows the dump does not begin as secondary data do.
    NoBlobs,
    /// Neither the sizes in the header of a blob nor what follows it agree: it ends where the next blob begins.
    BlobSize {
        /// What the header states of its data.
        stated: u32,
        /// How many bytes there are up to the next blob.
        found: u64,
    },
    /// A blob has the data of ETW, and another tag.
    Tag(Guid),
    /// Another dump begins, which is left out with all that follows.
    Another,
    /// A header that says that it has another size than it can have.
    HeaderSize {
        /// Of what.
        what: &'static str,
        /// What it says.
        size: u32,
    },
    /// A session is expected, and something else is there.
    NoSession(u32),
    /// A buffer is expected, and neither size nor number of the session are there.
    NoBuffer,
    /// So many bytes from there on are skipped, up to the next session or buffer that begins as one does.
    Skipped(u64),
    /// The valid end of a buffer lies outside of it, or in what follows.
    Offset(u32),
    /// A buffer is of another size than its session says.
    BufferSize {
        /// What the session says.
        session: u32,
        /// What the buffer says.
        buffer: u32,
    },
    /// A buffer is of another session than the one before it.
    Logger {
        /// The session's number.
        session: u32,
        /// The number in the buffer.
        buffer: u16,
    },
    /// The session names a clock that is none; it is taken for the performance counter.
    Clock(u32),
    /// The length of a session's name is wrong: it is taken up to its end, and what follows from the next buffer or session on.
    NameLength {
        /// The bytes that the session states.
        stated: u32,
        /// The bytes that are taken.
        found: u32,
    },
    /// How fast a session's clock ticks is not told.
    Rate,
    /// At which time a session's clock had which value is not told.
    Reference,
    /// A compressed buffer, not all of which can be decompressed.
    Compressed(String),
    /// Something is wrong with an event.
    Event(etl::What),
}

impl What {
    /// A name of what is wrong, the same for all findings that differ in numbers only.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Truncated { .. } | Self::Blocks { .. } => "truncated",
            Self::Count { .. } => "block-count",
            Self::Unnamed(_) => "unnamed-bytes",
            Self::Overlap => "overlapping-blocks",
            Self::Unfinished => "unfinished",
            Self::Repeated => "repeated-pages",
            Self::Tables(_) => "page-tables",
            Self::Modules(_) => "modules",
            Self::NoImage => "no-kernel-image",
            Self::Size { .. } => "dump-size",
            Self::NoBlobs => "secondary-data",
            Self::BlobSize { .. } => "blob-size",
            Self::Tag(_) => "tag",
            Self::Another => "another-dump",
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
            Self::Event(what) => what.kind(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:#x}: {}", self.offset, self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { what, size, there } => {
                write!(f, "truncated: {there:#x} of {size:#x} bytes of {what} are in the file")
            }
            Self::Blocks { count: 1, missing, first, .. } => {
                write!(f, "the data ends before the data block of {first:#x} does: {missing:#x} bytes are missing")
            }
            Self::Blocks { count, missing, first, last } => {
                write!(
                    f,
                    "the data ends before {count} data blocks do, of {first:#x} to {last:#x}: {missing:#x} bytes are missing"
                )
            }
            Self::Count { stated, found } => {
                write!(f, "the list here has {found} data blocks, and the header states {stated}; all are read")
            }
            Self::Unnamed(bytes) => {
                write!(f, "{bytes:#x} bytes are in no data block, here and behind: the list of data blocks may be damaged")
            }
            Self::Overlap => f.write_str("the data blocks up to here have more bytes than the file; the others are left out"),
            Self::Unfinished => f.write_str("incomplete dump: end signature TRGD is missing"),
            Self::Repeated => f.write_str("duplicate pages from here on; using the first ones"),
            Self::Tables(list) => {
                write!(f, "invalid page tables: cannot read the module list at {list:#x}; all addresses can be wrong")
            }
            Self::Modules(what) => write!(f, "the list of modules: {what}"),
            Self::NoImage => f.write_str("kernel image is not in the dump; its symbols are unknown"),
            Self::Size { stated } => {
                write!(f, "the dump ends here with the letters TRGD, and its header states a size of {stated:#x} bytes")
            }
            Self::NoBlobs => f.write_str(
                "what follows the dump does not begin with DumpBlob; it is read from the first blob on, if there is one",
            ),
            Self::BlobSize { stated, found } => write!(
                f,
                "the header of a blob states {stated:#x} bytes of data, which do not lead to another blob; there are {found:#x}"
            ),
            Self::Tag(tag) => write!(f, "unknown tag {tag}: the blob contains ETW sessions and is read as ETW data"),
            Self::Another => f.write_str("second dump in the file: not read; split the file at this offset"),
            Self::HeaderSize { what, size } => write!(f, "invalid size of {what}: {size:#x} bytes"),
            Self::NoSession(found) => {
                write!(f, "invalid session signature: {found:#010x}, expected 0x01ebafe1; continuing with the next session")
            }
            Self::NoBuffer => f.write_str("invalid buffer header: neither size nor number match the session"),
            Self::Skipped(bytes) => {
                write!(f, "skipped {bytes:#x} bytes up to the next session, buffer or end of data")
            }
            Self::Offset(offset) => write!(f, "invalid valid end: {offset:#x} is outside the buffer or in the next one"),
            Self::BufferSize { session, buffer } => {
                write!(f, "wrong buffer size: buffer states {buffer:#x} bytes, session {session:#x}")
            }
            Self::Logger { session, buffer } => {
                write!(f, "wrong session number: buffer states {buffer}, found among the buffers of {session}")
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
            Self::Event(what) => what.fmt(f),
        }
    }
}
