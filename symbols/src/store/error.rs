//! Why a path cannot be read, and why a symbol file was not found.

use crate::identity::Pdb;
use std::fmt::{self, Display, Formatter};

/// Why a symbol path cannot be read, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathError {
    /// The path has no element.
    Empty,
    /// A symbol server other than `symsrv.dll`.
    Server {
        /// The element.
        element: String,
    },
    /// A URL that is not of `http` or `https`.
    Url {
        /// The URL.
        url: String,
    },
}

impl Display for PathError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PathError::Empty => write!(f, "the symbol path is empty: name a folder, or srv*CACHE*{}", super::MICROSOFT),
            PathError::Server { element } => {
                write!(f, "`{element}` in the symbol path names an unsupported symbol server: write srv*CACHE*STORE")
            }
            PathError::Url { url } => {
                write!(
                    f,
                    "`{url}` in the symbol path is no URL of a store: give one that begins with https:// or http://, or the path of a folder"
                )
            }
        }
    }
}

impl std::error::Error for PathError {}

/// A symbol file that no element of the path has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The symbol file.
    pub pdb: Pdb,
    /// Every place that was tried, in order.
    pub tried: Vec<Tried>,
}

/// A place that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// A folder, a file or a URL.
    pub place: String,
    /// Its answer.
    pub answer: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Error { pdb, tried } = self;
        write!(f, "{} with key {} not found along the symbol path:", pdb.name.escape_debug(), pdb.key())?;
        for Tried { place, answer } in tried {
            write!(f, "\n  {place}: {answer}")?;
        }
        write!(f, "\nadd a store that has it to the path, or name the PDB itself")
    }
}

impl std::error::Error for Error {}
