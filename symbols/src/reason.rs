//! Why a symbol file is not used.

/// Why a file was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// No place has the file.
    NotFound,
    /// A server, a folder or the operating system refused access.
    Refused,
    /// A server did not respond, or reported an error of its own, so it is unknown whether it has the file.
    Unreachable,
    /// A file is corrupt, incomplete, too large, or another one.
    Unusable,
}
