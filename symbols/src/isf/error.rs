//! Errors of reading a table.

use std::fmt::{self, Display, Formatter};

/// Error of reading a table, with its position and a remedy. The message does not include the file name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input begins neither as JSON nor as xz.
    Unrecognized,
    /// The xz data is truncated or corrupt.
    Xz {
        /// Number of bytes of JSON decoded before the error.
        decoded: usize,
        /// Message of the decoder.
        reason: String,
    },
    /// Decoding the xz data needs more memory than `xz -9` files do.
    XzMemory,
    /// The program was built without the decoder of xz.
    NoXz,
    /// The table is larger than [`super::MAX_JSON`].
    TooLarge,
    /// The text is not UTF-8.
    Utf8 {
        /// Offset in bytes from the start of the JSON.
        offset: usize,
    },
    /// The text is not JSON.
    Json(Fault),
    /// The text is JSON, but not ISF.
    Isf(Fault),
    /// Two type names differ only by the leading underscore.
    Ambiguous {
        /// The common name without the underscore.
        name: String,
    },
    /// Types nest deeper than [`crate::MAX_DEPTH`], or endlessly.
    TooDeep {
        /// A type on the path.
        name: String,
    },
    /// The wanted types have more members than [`super::MAX_MEMBERS`].
    TooMany,
    /// Unnamed types are repeated until the result is several times as large as the table.
    TooMuch,
}

/// A position in the JSON text, and the error there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1; relevant when a whole table is on one line.
    pub column: usize,
    /// The cause.
    pub reason: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unrecognized => write!(f, "neither JSON nor xz; name an ISF table, `.json` or `.json.xz`"),
            Error::Xz { decoded, reason } => {
                write!(f, "corrupt xz data after {decoded} bytes of JSON ({reason}); download the file again")
            }
            Error::XzMemory => write!(
                f,
                "xz data needs more than {} MiB of memory to decode; compress it again with a dictionary no larger than that of `xz -9`",
                super::XZ_MEMORY >> 20
            ),
            Error::NoXz => f.write_str("xz is not supported by this program; decompress the file first"),
            Error::TooLarge => write!(f, "more than {} MiB of JSON: not a table of a Windows kernel", super::MAX_JSON >> 20),
            Error::Utf8 { offset } => write!(f, "not UTF-8 at byte {offset} of the JSON; convert the table to UTF-8"),
            Error::Json(fault) => write!(f, "invalid JSON at {fault}; download or create the file again"),
            Error::Isf(fault) => {
                write!(f, "valid JSON, but not ISF at {fault}; create the table with Volatility 3 (format 6)")
            }
            Error::Ambiguous { name } => {
                write!(f, "ambiguous type `{name}`: several names differ only by the leading underscore; rename one in the table")
            }
            Error::TooDeep { name } => {
                write!(f, "`{name}` nests types more than {} levels deep; create the table again", crate::MAX_DEPTH)
            }
            Error::TooMany => write!(
                f,
                "the wanted types have more than {} members; request fewer types, or create the table again",
                super::MAX_MEMBERS
            ),
            Error::TooMuch => f.write_str("unnamed types repeat endlessly; create the table again"),
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {} ({})", self.line, self.column, self.reason)
    }
}

impl std::error::Error for Error {}
