//! Errors of reading a program database.

use std::fmt::{self, Display, Formatter};

/// Error of reading a program database, with a remedy. The message does not include the file name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input is empty.
    Empty,
    /// The input does not begin as a program database.
    Unrecognized,
    /// The input is a program or library, not its symbols.
    Image,
    /// The input is a cabinet, the form of symbol server files whose names end in an underscore.
    Cabinet,
    /// The input is a Portable PDB, as written by .NET compilers.
    Portable,
    /// The input is a Windows PDB of a .NET assembly.
    Managed,
    /// The PDB was linked with `/DEBUG:FASTLINK`: the types are in the object files.
    FastLink,
    /// The container is of Visual C++ 6 or earlier.
    Msf2,
    /// The program database has no types.
    NoTypes,
    /// The version or method is not supported.
    Unsupported {
        /// The unsupported feature, as in `MSFZ compression 2`.
        what: String,
    },
    /// The file is truncated.
    Truncated {
        /// Expected size in bytes, if stated.
        expected: Option<u64>,
        /// Actual size in bytes.
        actual: u64,
    },
    /// The file is corrupt.
    Damaged {
        /// The cause.
        reason: String,
    },
    /// Different types have the same name, or names that differ only by the leading underscore.
    Ambiguous {
        /// The common name without the underscore.
        name: String,
    },
    /// Types nest deeper than [`crate::MAX_DEPTH`], or endlessly.
    TooDeep {
        /// A type on the path.
        name: String,
    },
    /// The functions cannot be read within the time limit.
    TimedOut,
    /// Unnamed types are repeated until the result is several times as large as all types of the file.
    TooLarge,
}

impl Error {
    pub(super) fn damaged(reason: impl Into<String>) -> Error {
        Error::Damaged { reason: reason.into() }
    }
}

impl From<pdb2::Error> for Error {
    fn from(error: pdb2::Error) -> Error {
        Error::damaged(error.to_string())
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty => f.write_str("empty file; download it again"),
            Error::Unrecognized => f.write_str("not a program database; name a .pdb or .pdz file of the Microsoft linker or LLD"),
            Error::Image => f.write_str("program or library instead of its symbols; name its .pdb file"),
            Error::Cabinet => f.write_str(
                "CAB-compressed symbol file; expand it first, with `expand FILE.pd_ FILE.pdb` on Windows, otherwise with `cabextract FILE.pd_`",
            ),
            Error::Portable => f.write_str("Portable PDB of a .NET assembly, which has no C types; name the .pdb of native code"),
            Error::Managed => f.write_str("Windows PDB of a .NET assembly, which has no C types; name the .pdb of native code"),
            Error::FastLink => f.write_str(
                "PDB linked with /DEBUG:FASTLINK, whose types are in the object files; link again with /DEBUG:FULL, or run `mspdbcmf /pdb:FILE.pdb` with access to these files",
            ),
            Error::Msf2 => f.write_str(
                "unsupported PDB in MSF 2.00, the format of Visual C++ 6 and Windows 2000; name one of Windows XP or later",
            ),
            Error::NoTypes => f.write_str("PDB without types, which were stripped or never written; name one with types"),
            Error::Unsupported { what } => write!(f, "unsupported PDB with {what}; convert it to MSF 7.00"),
            Error::Truncated { expected: Some(expected), actual } => {
                write!(f, "truncated PDB, {actual} of {expected} bytes; download it again")
            }
            Error::Truncated { expected: None, actual } => {
                write!(f, "PDB truncated after {actual} bytes; download it again")
            }
            Error::Damaged { reason } => write!(f, "corrupt PDB ({reason}); download it again"),
            Error::Ambiguous { name } => {
                write!(f, "ambiguous type `{name}`: the PDB has several different definitions; name one that was linked without the others")
            }
            Error::TooDeep { name } => {
                write!(f, "corrupt PDB (`{name}` nests types more than {} levels deep); download it again", crate::MAX_DEPTH)
            }
            Error::TimedOut => f.write_str("corrupt PDB (its functions cannot be read within 30 seconds); download it again"),
            Error::TooLarge => f.write_str("corrupt PDB (unnamed types repeat endlessly); download it again"),
        }
    }
}

impl std::error::Error for Error {}
