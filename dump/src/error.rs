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
    /// What follows the header does not tell which pages there are.
    Bitmap,
    /// Of an architecture that is not known.
    Machine(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDump => f.write_str("it does not begin with PAGEDU64 or PAGEDUMP: not a crash dump of a kernel"),
            Self::Short(length) => write!(f, "{length} bytes are less than the headers of such a dump have"),
            Self::Kind(kind) => {
                let name = match kind {
                    1 | 5 => "a full dump",
                    2 => "a dump of the kernel's memory, as Windows wrote them up to 7",
                    3 => "headers without memory",
                    4 => "a triage dump",
                    6 => "a dump of the kernel's memory",
                    7 => "an automatic dump",
                    8..=10 => "a dump that a debugger wrote of a running system",
                    _ => "none that is known",
                };
                write!(
                    f,
                    "the dump is of the kind {kind}, {name}, which is not read here: minidumps (4) are, full dumps (1, 5), and of"
                )?;
                f.write_str(" 64-bit systems since Windows 8 dumps of the kernel's memory (6, 7)")
            }
            Self::Bitmap => f.write_str("where the list of pages should begin are not the letters SDMP or FDMP, and DUMP"),
            Self::Machine(machine) => write!(f, "the dump is of a machine {machine:#06x}, not of x86, x64 or ARM64"),
        }
    }
}

impl std::error::Error for Error {}
