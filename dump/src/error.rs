//! Errors of opening a dump.

use etw_layouts_memory::ReadError;
use std::path::PathBuf;
use std::{fmt, io};

/// Error of bytes that are not a dump, or not a supported one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes cannot be read.
    Read(ReadError),
    /// The bytes do not begin with the signature of a kernel crash dump.
    NoDump,
    /// The file ends within the headers; its length in bytes.
    Short(usize),
    /// The dump type is not supported, or not by the called function.
    Kind(u32),
    /// The page list after the header of a dump of this type is missing or invalid.
    List(u32),
    /// The first page of memory is after the end of the file.
    NoPages {
        /// Offset of the first page.
        first: u64,
        /// Length of the file, in bytes.
        length: u64,
    },
    /// The memory has no page tables that lead to the image of a kernel.
    NoKernel,
    /// The search for a kernel ended at a limit: too many of these were in the memory.
    SearchLimit(&'static str),
    /// The PDB of the kernel, as text, is not that of an examined build.
    UnknownKernel(String),
    /// The architecture, a machine type of image files, is not supported.
    Machine(u32),
}

/// Error of opening a dump file.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read.
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file is not a dump, or not a supported one.
    Dump {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        error: Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "{error}; copy the file again, or name a readable file"),
            Self::NoDump => f.write_str(
                "not a kernel crash dump: signature PAGEDU64 or PAGEDUMP is missing; name a file such as MEMORY.DMP or Mini*.dmp",
            ),
            Self::Short(0) => f.write_str("empty file; copy the crash dump again"),
            Self::Short(length) => {
                write!(f, "truncated crash dump: ends within the headers, after {length} bytes; copy the file again")
            }
            Self::Kind(3) => f.write_str("unsupported dump type 3: it has headers and no memory; use a dump of another type"),
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
                    "unsupported dump type {kind} ({name}); supported: 1 (full), 2 (kernel, up to Windows 7), 4 (minidump); "
                )?;
                f.write_str("for 64-bit Windows 8 and later also 5, 6, 7 (with a bitmap) and 8, 9, 10 (live dumps)")
            }
            Self::List(kind) => {
                let letters = if (8..=10).contains(kind) { "RDMP" } else { "SDMP or FDMP" };
                write!(
                    f,
                    "invalid page list of dump type {kind}: signatures {letters}, and DUMP, are missing; copy the file again"
                )
            }
            Self::NoPages { first, length } => {
                write!(f, "no memory: the first page is at {first:#x}, but the file has {length:#x} bytes; copy the file again")
            }
            Self::NoKernel => f.write_str(
                "no kernel found: no page tables lead to the image of a Windows kernel; name the whole physical memory of a system",
            ),
            Self::SearchLimit(what) => write!(
                f,
                "no kernel found: the search ended at its limit, because the memory has too many {what}; name another image of the system"
            ),
            Self::UnknownKernel(pdb) => write!(f, "unknown build of the kernel: {pdb}; give its build, such as 10.0.19041.1415"),
            Self::Machine(machine) => write!(f, "unknown machine type {machine:#06x}; supported are x86, x64 and ARM64"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Read(ReadError(error.to_string()))
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error } if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "{}: no such file; check the path", path.display())
            }
            Self::Read { path, error } => write!(f, "{}: {error}; name a readable file", path.display()),
            Self::Dump { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { error, .. } => Some(error),
            Self::Dump { error, .. } => Some(error),
        }
    }
}
