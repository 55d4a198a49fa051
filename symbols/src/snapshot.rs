//! The reduced form of a symbol table: a reviewable text with only the wanted types.
//!
//! ```text
//! etw-layouts-symbols 1
//! producer volatility3
//! kernel 10.0.19041.329 x64 ntkrnlmp.pdb BBED7C2955FBE4522AAA23F4B8677AD9 1 ntoskrnl.exe 0x80B1B3D1 0x1046000
//!  0xc1d2f0 EtwpBootTime
//!  0xc009a0 EtwpDebuggerData
//! kernel 10.0.19041.388 x64 -
//! enum ETW_BUFFER_STATE i4
//!  0 EtwBufferStateFree
//!  1 EtwBufferStateGeneralLogging
//! union LARGE_INTEGER 0x8
//!  0x0 LowPart u4
//!  0x0 QuadPart i8
//!  0x0 u struct 0x8
//!   0x0 LowPart u4
//!   0x4 HighPart i4
//!  0x4 HighPart i4
//! struct LIST_ENTRY 0x10
//!  0x0 Flink *.LIST_ENTRY
//!  0x8 Blink *.LIST_ENTRY
//! offsets ETW_REG_ENTRY
//!  0x20 GuidEntry
//! ```
//!
//! The first line has the format and its version. `producer` extends to the end of its line. Each `kernel` with these facts has a
//! line: version, architecture, then file, GUID and age of its symbols, or `-` if they are unknown, and, if known, file, time
//! stamp and size of its image. Below it, each global variable with a known address has a line, sorted by name: bytes from the
//! image base, name. These differ between kernels that share all other facts. Types follow by name: `struct` or `union`, name and
//! size; `enum`, name, and its integer as `i` or `u` and the size in bytes. Below a structure, each member has a line: offset,
//! name, type. Below an enumeration: value, name. Partly known structures come last, by name: `offsets`, name, and below it a
//! line for each known member, by name: offset, name. Offsets, addresses, sizes and time stamps are hexadecimal with `0x`; all
//! other numbers are decimal. Indentation is one space per level. The content of an unnamed type is indented one level below its
//! member.
//!
//! | type | is | type | is |
//! |---|---|---|---|
//! | `i1` `i2` `i4` `i8` | `signed char` `short` `long` `long long` | `*T` | pointer to T |
//! | `u1` `u2` `u4` `u8` | the same, `unsigned` | `16[T]` | array of 16 T |
//! | `int` `uint` | `int` `unsigned int` | `3@5:T` | 3 bits from bit 5 on in a unit T |
//! | `c1` `b1` | `char` `bool` | `.NAME` | structure or union by name |
//! | `f4` `f8` | floating point of 4 or 8 bytes | `#NAME` | enumeration by name |
//! | `void` `fn` | `void`, a function | `struct 0x8` `union 0x8` `enum i4` | unnamed, content below |
//! | | | `?` | unnamed, content not kept |
//!
//! In names, `%` and two hexadecimal digits represent a byte that is a space, a control character or `%`; `%` alone is the empty
//! name.

mod parse;
pub(crate) mod text;
mod write;

use crate::identity::{ImageFile, Pdb};
use crate::model::{Arch, Globals, Offsets, Types};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The first line of every snapshot.
const HEADER: &str = "etw-layouts-symbols 1";

/// Prefix of the first line in every version of the format.
pub(crate) const MAGIC: &str = "etw-layouts-symbols ";

/// The facts from one source, and the builds that have them.
///
/// Displays as the text that [`Snapshot::parse`] reads. The same facts always give the same bytes, and parsing the text returns
/// the same facts unless they nest deeper than [`crate::MAX_DEPTH`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The program that created the table, as in [`crate::SymbolTable`].
    pub producer: String,
    /// The builds, at least one.
    pub kernels: Vec<Kernel>,
    /// Facts about types.
    pub types: Types,
    /// Member offsets of partly known structures.
    pub offsets: Offsets,
}

/// A build, with its symbols and image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Major and minor version, build, revision.
    pub build: [u32; 4],
    /// The architecture.
    pub arch: Arch,
    /// Symbol file, if known.
    pub pdb: Option<Pdb>,
    /// Image, if known.
    pub image: Option<ImageFile>,
    /// Addresses of its global variables.
    pub globals: Globals,
}

impl Snapshot {
    /// Reads a snapshot. Parsing is strict: anything outside the format is an error.
    ///
    /// # Errors
    ///
    /// The first line that violates the format in [`self`](crate::snapshot), with the cause.
    pub fn parse(text: &str) -> Result<Snapshot, Error> {
        parse::snapshot(text)
    }
}

impl FromStr for Snapshot {
    type Err = Error;

    fn from_str(text: &str) -> Result<Snapshot, Error> {
        Snapshot::parse(text)
    }
}

impl Display for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write::snapshot(f, self)
    }
}

/// Error of reading a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1; one past the last if the text ends too early.
    pub line: usize,
    /// The cause, and the expected form.
    pub reason: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; correct the line, or create the snapshot again from its table", self.line, self.reason)
    }
}

impl std::error::Error for Error {}
