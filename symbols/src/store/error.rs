//! Errors of symbol paths, and of searches for symbol files.

use crate::identity::Pdb;
use crate::reason::Reason;
use std::fmt::{self, Display, Formatter};

/// Error of a symbol path, with a remedy.
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
    /// A URL with a scheme other than `http` or `https`.
    Url {
        /// The URL.
        url: String,
    },
}

impl Display for PathError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PathError::Empty => write!(f, "empty symbol path; name a folder, or srv*CACHE*{}", super::MICROSOFT),
            PathError::Server { element } => {
                write!(f, "unsupported symbol server in `{element}` of the symbol path; write srv*CACHE*STORE")
            }
            PathError::Url { url } => {
                write!(
                    f,
                    "unsupported URL `{url}` in the symbol path; name one with https:// or http://, or the path of a folder"
                )
            }
        }
    }
}

impl std::error::Error for PathError {}

/// Error of a symbol file that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The symbol file.
    pub pdb: Pdb,
    /// Every place searched, in order.
    pub tried: Vec<Tried>,
}

/// A place searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// A folder, a file or a URL.
    pub place: String,
    /// Why it does not have the file.
    pub reason: Reason,
    /// Result of the search.
    pub answer: String,
}

impl Error {
    /// The place that decides why the file was not found: the first one with the last reason in the order of [`Reason`].
    #[must_use]
    pub fn cause(&self) -> Option<&Tried> {
        self.tried.iter().rev().max_by_key(|tried| tried.reason)
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Error { pdb, tried } = self;
        write!(f, "{} with key {} not found along the symbol path:", pdb.name.escape_debug(), pdb.key())?;
        for Tried { place, answer, .. } in tried {
            write!(f, "\n  {place}: {answer}")?;
        }
        write!(f, "\nadd a store that has it to the path, or give the PDB itself")
    }
}

impl std::error::Error for Error {}
