//! The error of bytes that are not a readable dump.

use std::fmt;

/// Error of bytes that are not a readable dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not begin with the signature of a kernel crash dump.
    NoDump,
    /// The file ends within the headers; its length in bytes.
    Short(usize),
    /// The kind of dump is not supported, or not by the called function.
    Kind(u32),
    /// The list of pages after the header of a dump of this kind is missing or invalid.
    List(u32),
    /// The first page of memory is after the end of the file.
    NoPages {
        /// Offset of the first page.
        first: u64,
        /// Length of the file, in bytes.
        length: u64,
    },
    /// The architecture, a machine type of image files, is not supported.
    Machine(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDump => f.write_str("not a kernel crash dump: it does not begin with PAGEDU64 or PAGEDUMP"),
            Self::Short(length) => write!(f, "truncated: {length} bytes are fewer than the headers of a crash dump"),
            Self::Kind(3) => f.write_str("dump of kind 3 (headers only): it has no memory"),
            Self::Kind(kind) => {
                let name = match kind {
                    1 | 5 => "full dump",
                    2 | 6 => "kernel dump",
                    4 => "triage dump",
                    7 => "automatic dump",
                    8..=10 => "live dump of a debugger",
                    _ => "unknown",
                };
                write!(
                    f,
                    "unsupported dump of kind {kind} ({name}): supported are minidumps (4), full dumps (1), kernel dumps up to "
                )?;
                f.write_str(
                    "Windows 7 (2), and, of 64-bit systems since Windows 8, dumps with a bitmap (5, 6, 7) and live dumps of a ",
                )?;
                f.write_str("debugger (8, 9, 10)")
            }
            Self::List(kind) => {
                let letters = if (8..=10).contains(kind) { "RDMP" } else { "SDMP or FDMP" };
                write!(f, "invalid list of pages of a dump of kind {kind}: signature {letters} and DUMP is missing")
            }
            Self::NoPages { first, length } => {
                write!(f, "no memory: the first page is at {first:#x}, but the file has {length:#x} bytes")
            }
            Self::Machine(machine) => write!(f, "unknown machine type {machine:#06x}; supported are x86, x64 and ARM64"),
        }
    }
}

impl std::error::Error for Error {}
