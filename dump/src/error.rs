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
    /// A dump of another kind than a triage dump.
    Kind(u32),
    /// Of an architecture that is not known.
    Machine(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDump => f.write_str("it does not begin with PAGEDU64 or PAGEDUMP: not a crash dump of a kernel"),
            Self::Short(length) => write!(f, "{length} bytes are less than the headers of a triage dump have"),
            Self::Kind(kind) => {
                let name = match kind {
                    1 | 5 => "a full dump",
                    2 | 6 => "a dump of the kernel's memory",
                    7 => "an automatic dump",
                    _ => "none that is known",
                };
                write!(f, "the dump is of the kind {kind}, {name}; only triage dumps (minidumps, kind 4) are read")
            }
            Self::Machine(machine) => write!(f, "the dump is of a machine {machine:#06x}, not of x86, x64 or ARM64"),
        }
    }
}

impl std::error::Error for Error {}
