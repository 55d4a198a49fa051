//! Why bytes are no dump that can be read.

use std::fmt;

/// Why bytes are no dump that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// They do not begin as a crash dump of a kernel does.
    NoDump,
    /// The file ends within the headers.
    Short(usize),
    /// A dump of a kind that is not read, or not by what was asked.
    Kind(u32),
    /// What follows the header of a dump of this kind does not tell which pages there are.
    List(u32),
    /// The first page of memory is behind the end of the file.
    NoPages {
        /// Where the first page is.
        first: u64,
        /// How long the file is.
        length: u64,
    },
    /// Of an architecture that is not known.
    Machine(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDump => f.write_str("it does not begin with PAGEDU64 or PAGEDUMP: not a crash dump of a kernel"),
            Self::Short(length) => write!(f, "truncated: {length} bytes are less than the headers of a crash dump have"),
            Self::Kind(3) => f.write_str("the dump is of the kind 3, headers alone: it holds no memory"),
            Self::Kind(kind) => {
                let name = match kind {
                    1 | 5 => "a full dump",
                    2 | 6 => "a dump of the kernel's memory",
                    4 => "a triage dump",
                    7 => "an automatic dump",
                    8..=10 => "a dump that a debugger wrote of a running system",
                    _ => "none that is known",
                };
                write!(
                    f,
                    "the dump is of the kind {kind}, {name}, which is not read here: minidumps (4) are, full dumps (1), dumps of the"
                )?;
                f.write_str(" kernel's memory up to Windows 7 (2), and of 64-bit systems since Windows 8 those with a bitmap (5, 6, 7) and")?;
                f.write_str(" those that a debugger wrote (8, 9, 10)")
            }
            Self::List(kind) => {
                let letters = if (8..=10).contains(kind) { "RDMP" } else { "SDMP or FDMP" };
                write!(
                    f,
                    "where the list of pages of a dump of the kind {kind} should begin are not the letters {letters}, and DUMP"
                )
            }
            Self::NoPages { first, length } => {
                write!(f, "no memory: the first page is at {first:#x}, and the file has {length:#x} bytes")
            }
            Self::Machine(machine) => write!(f, "the dump is of a machine {machine:#06x}, not of x86, x64 or ARM64"),
        }
    }
}

impl std::error::Error for Error {}
