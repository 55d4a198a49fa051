//! Errors of reading an image.

use crate::identity::Unnamed;
use crate::model::Machine;
use std::fmt::{self, Display, Formatter};

/// Error of reading an image, with a remedy. The message does not include the file name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input is not a PE image.
    NotPe {
        /// The actual format, and a remedy.
        what: &'static str,
    },
    /// A part of the image is corrupt.
    Damaged {
        /// The part.
        part: &'static str,
        /// The cause.
        reason: String,
    },
    /// The machine type in the file header is not one of [`crate::Arch`].
    Machine(u16),
    /// The image has no debug directory.
    NoDebugDirectory,
    /// The debug directory does not identify a PDB.
    NoCodeView,
    /// The image identifies its PDB by a time stamp, as linkers did before 2002: a symbol store needs a GUID.
    NoGuid {
        /// File name of the PDB.
        name: String,
    },
    /// The image has no version resource.
    NoVersion,
}

/// Signatures of other formats, with descriptions and remedies.
const OTHERS: [(&[u8], &str); 8] = [
    (b"Microsoft C/C++ ", "it is a PDB; name it as a symbol file, with its build"),
    (b"Microsoft MSFZ ", "it is a compressed PDB; name it as a symbol file, with its build"),
    (b"MSCF", "it is a cabinet; expand it with `expand FILE.ex_ FILE.exe` or `cabextract`, and name the image in it"),
    (b"DI", "it is a separate debug file (.dbg); name the image that it belongs to"),
    (b"MZ", "it is a program for DOS or 16-bit Windows, or truncated; name the complete ntoskrnl.exe"),
    (b"\x7FELF", "it is an ELF program; name the ntoskrnl.exe of a Windows installation"),
    (b"PK", "it is an archive; unpack it and name the image in it"),
    (b"MDMP", "it is a crash dump; name the image, ntoskrnl.exe"),
];

impl Error {
    pub(super) fn not_pe(bytes: &[u8]) -> Error {
        let other = OTHERS.iter().find(|(start, _)| bytes.starts_with(start));
        let none = if bytes.is_empty() {
            "it is empty; download it again"
        } else {
            "unknown format; name a kernel image such as ntoskrnl.exe"
        };
        Error::NotPe { what: other.map_or(none, |(_, what)| what) }
    }

    pub(super) fn damaged(part: &'static str) -> impl Fn(object::Error) -> Error + Copy {
        move |error| Error::Damaged { part, reason: error.to_string() }
    }
}

impl From<Unnamed> for Error {
    fn from(unnamed: Unnamed) -> Error {
        match unnamed {
            Unnamed::Kind => Error::NoCodeView,
            Unnamed::TimeStamp(name) => Error::NoGuid { name },
            Unnamed::Damaged(reason) => Error::Damaged { part: "CodeView record", reason },
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const REMEDY: &str = "name the PDB itself, with its build and architecture";
        match self {
            Error::NotPe { what } => write!(f, "not a PE image: {what}"),
            Error::Damaged { part, reason } => {
                write!(f, "corrupt {part} of a PE image ({reason}); download it again")
            }
            Error::Machine(machine) => {
                write!(
                    f,
                    "unsupported architecture of a PE image, {}: supported are x86, x64 and arm64",
                    Machine(u32::from(*machine))
                )
            }
            Error::NoDebugDirectory => write!(f, "PE image without a debug directory, so its PDB is unknown; {REMEDY}"),
            Error::NoCodeView => write!(f, "PE image whose debug directory does not identify a PDB; {REMEDY}"),
            Error::NoGuid { name } => {
                write!(f, "PE image that identifies its PDB ({name}) by time stamp, without a GUID (NB10, before 2002); {REMEDY}")
            }
            Error::NoVersion => write!(f, "PE image without a version resource, so its build is unknown; {REMEDY}"),
        }
    }
}

impl std::error::Error for Error {}
