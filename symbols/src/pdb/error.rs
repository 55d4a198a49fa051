//! Why a program database cannot be read.

use std::fmt::{self, Display, Formatter};

/// Why a program database cannot be read, and what to do. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input is empty.
    Empty,
    /// The input begins like no program database.
    Unrecognized,
    /// A program or library, not its symbols.
    Image,
    /// A cabinet, as symbol servers keep files that end in an underscore.
    Cabinet,
    /// A Portable PDB, which .NET compilers write.
    Portable,
    /// A Windows PDB of a .NET assembly.
    Managed,
    /// Linked with `/DEBUG:FASTLINK`: the types are elsewhere.
    FastLink,
    /// A container of Visual C++ 6 or earlier.
    Msf2,
    /// A program database without types.
    NoTypes,
    /// A version or method that this reader does not know.
    Unsupported {
        /// Which, as in `MSFZ compression 2`.
        what: String,
    },
    /// The file ends too early.
    Truncated {
        /// Bytes that it should have, if it says so.
        expected: Option<u64>,
        /// Bytes that it has.
        actual: u64,
    },
    /// The file contradicts itself.
    Damaged {
        /// How.
        reason: String,
    },
    /// Several types have a name, or names that differ in nothing but the underscore in front, and are not the same.
    Ambiguous {
        /// The name without the underscore.
        name: String,
    },
    /// Types nest deeper than [`crate::MAX_DEPTH`], or without end.
    TooDeep {
        /// The type in which this shows.
        name: String,
    },
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
            Error::Empty => f.write_str("an empty file: fetch it again"),
            Error::Unrecognized => f.write_str("not a program database: give a .pdb or .pdz file of the Microsoft linker or LLD"),
            Error::Image => f.write_str("a program or library, not its symbols: give its .pdb file"),
            Error::Cabinet => f.write_str(
                "a CAB-compressed symbol file: expand it first, with `expand FILE.pd_ FILE.pdb` on Windows, else with `cabextract FILE.pd_`",
            ),
            Error::Portable => f.write_str("a Portable PDB of a .NET assembly, which holds no C types: give the .pdb of native code"),
            Error::Managed => f.write_str("a Windows PDB of a .NET assembly, which holds no C types: give the .pdb of native code"),
            Error::FastLink => f.write_str(
                "a PDB linked with /DEBUG:FASTLINK, whose types stayed in the object files: link again with /DEBUG:FULL, or run `mspdbcmf /pdb:FILE.pdb` where these are",
            ),
            Error::Msf2 => f.write_str(
                "a PDB in MSF 2.00, the format of Visual C++ 6 and Windows 2000: give one of Windows XP or later",
            ),
            Error::NoTypes => f.write_str("a PDB without types, as they were stripped or never written: give one with types"),
            Error::Unsupported { what } => write!(f, "a PDB with {what}, which is not known here: convert it to MSF 7.00"),
            Error::Truncated { expected: Some(expected), actual } => {
                write!(f, "a truncated PDB of {actual} bytes that should have {expected}: fetch it again")
            }
            Error::Truncated { expected: None, actual } => {
                write!(f, "a truncated PDB that breaks off after {actual} bytes: fetch it again")
            }
            Error::Damaged { reason } => write!(f, "a damaged PDB ({reason}): fetch it again"),
            Error::Ambiguous { name } => {
                write!(f, "the PDB defines several different types named `{name}`: give one that was linked without the others")
            }
            Error::TooDeep { name } => {
                write!(f, "a damaged PDB (`{name}` nests types more than {} deep): fetch it again", crate::MAX_DEPTH)
            }
            Error::TooLarge => f.write_str("a damaged PDB (unnamed types repeat without end): fetch it again"),
        }
    }
}

impl std::error::Error for Error {}
