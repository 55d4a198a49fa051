//! Why an image cannot be read.

use crate::identity::Unnamed;
use crate::model::Machine;
use std::fmt::{self, Display, Formatter};

/// Why an image cannot be read, and what to do. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input is not a PE image.
    NotPe {
        /// What it is instead, and what to do with that.
        what: &'static str,
    },
    /// A part of the image contradicts the format.
    Damaged {
        /// The part.
        part: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The image is for an architecture that is none of [`crate::Arch`]: the machine of its file header.
    Machine(u16),
    /// The image has no debug directory.
    NoDebugDirectory,
    /// The debug directory names no PDB.
    NoCodeView,
    /// The image names its PDB by a time stamp, as linkers did before 2002: there is no GUID to ask a symbol store for.
    NoGuid {
        /// The PDB's file name.
        name: String,
    },
    /// The image has no version resource.
    NoVersion,
}

/// What other files begin with, and what they are.
const OTHERS: [(&[u8], &str); 8] = [
    (b"Microsoft C/C++ ", "a PDB: give it as a symbol file, with its build"),
    (b"Microsoft MSFZ ", "a compressed PDB: give it as a symbol file, with its build"),
    (b"MSCF", "a cabinet: expand it, as with `expand FILE.ex_ FILE.exe` or `cabextract`, and give the image in it"),
    (b"DI", "a separate debug file (.dbg): give the image that it belongs to"),
    (b"MZ", "a program for DOS or 16-bit Windows, or cut short: give the whole ntoskrnl.exe"),
    (b"\x7FELF", "an ELF program: give the ntoskrnl.exe of a Windows installation"),
    (b"PK", "an archive: unpack it and give the image in it"),
    (b"MDMP", "a crash dump: give the image, ntoskrnl.exe"),
];

impl Error {
    pub(super) fn not_pe(bytes: &[u8]) -> Error {
        let other = OTHERS.iter().find(|(start, _)| bytes.starts_with(start));
        let none = if bytes.is_empty() { "an empty file: fetch it again" } else { "something else: give ntoskrnl.exe" };
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
        const REMEDY: &str = "give the PDB itself, with its build and architecture";
        match self {
            Error::NotPe { what } => write!(f, "not a PE image but {what}"),
            Error::Damaged { part, reason } => {
                write!(f, "a PE image whose {part} cannot be read ({reason}): fetch it again")
            }
            Error::Machine(machine) => {
                write!(f, "a PE image for {}: only images for x86, x64 and arm64 are of use", Machine(u32::from(*machine)))
            }
            Error::NoDebugDirectory => write!(f, "a PE image without a debug directory, so it names no PDB: {REMEDY}"),
            Error::NoCodeView => write!(f, "a PE image whose debug directory names no PDB: {REMEDY}"),
            Error::NoGuid { name } => {
                write!(f, "a PE image that names its PDB ({name}) by time stamp, without a GUID (NB10, before 2002): {REMEDY}")
            }
            Error::NoVersion => write!(f, "a PE image without a version resource, so its build is unknown: {REMEDY}"),
        }
    }
}

impl std::error::Error for Error {}
