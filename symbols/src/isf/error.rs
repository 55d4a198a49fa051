//! Why a table cannot be read.

use std::fmt::{self, Display, Formatter};

/// Why a table cannot be read, where, and what to do. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input begins neither like JSON nor like xz.
    Unrecognized,
    /// The xz data is cut short or damaged.
    Xz {
        /// The bytes of JSON that came out before the fault.
        decoded: usize,
        /// What the decoder says.
        reason: String,
    },
    /// The xz data takes more memory to decode than that of `xz -9`.
    XzMemory,
    /// The table is larger than [`super::MAX_JSON`].
    TooLarge,
    /// The text is not UTF-8.
    Utf8 {
        /// Where, in bytes from the start of the JSON.
        offset: usize,
    },
    /// The text is not JSON.
    Json(Fault),
    /// The text is JSON, but not ISF.
    Isf(Fault),
    /// Two types differ in nothing but the underscore in front.
    Ambiguous {
        /// Their name without it.
        name: String,
    },
    /// Types nest deeper than [`crate::MAX_DEPTH`], or without end.
    TooDeep {
        /// The type in which this shows.
        name: String,
    },
    /// The wanted types have more members than [`super::MAX_MEMBERS`].
    TooMany,
    /// Unnamed types are repeated until the result is several times as large as the table.
    TooMuch,
}

/// A place in the JSON text and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1; in a line that is a whole table, it is what finds the place.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unrecognized => write!(f, "neither JSON nor xz: give an ISF table, `.json` or `.json.xz`"),
            Error::Xz { decoded, reason } => {
                write!(f, "the xz data ends in error after {decoded} bytes of JSON ({reason}): fetch the file again")
            }
            Error::XzMemory => write!(
                f,
                "xz data that takes over {} MiB of memory to decode: compress it again with no larger dictionary than that of `xz -9`",
                super::unpack::XZ_MEMORY >> 20
            ),
            Error::TooLarge => write!(f, "more than {} MiB of JSON: this is no table of a Windows kernel", super::MAX_JSON >> 20),
            Error::Utf8 { offset } => write!(f, "not UTF-8 at byte {offset} of the JSON: convert the table to UTF-8"),
            Error::Json(fault) => write!(f, "not JSON at {fault}: the file is damaged, fetch or make it again"),
            Error::Isf(fault) => {
                write!(f, "JSON but not ISF at {fault}: make the table with Volatility 3 (format 6)")
            }
            Error::Ambiguous { name } => {
                write!(f, "several types are named `{name}` but for an underscore in front: rename one in the table")
            }
            Error::TooDeep { name } => {
                write!(f, "`{name}` nests types more than {} deep: the table is damaged, make it again", crate::MAX_DEPTH)
            }
            Error::TooMany => write!(
                f,
                "the wanted types have more than {} members: want fewer types, or make the table again",
                super::MAX_MEMBERS
            ),
            Error::TooMuch => f.write_str("unnamed types repeat without end: the table is damaged, make it again"),
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {} ({})", self.line, self.column, self.reason)
    }
}

impl std::error::Error for Error {}
