//! The reduced form of a symbol table: a text that holds the wanted types and nothing else, made to be reviewed.
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
//! The first line names the format and its version. `producer` is the rest of its line. Each `kernel` whose table states
//! these facts has a line: version, architecture, then file, GUID and age of its symbols, or `-` if they are unknown, and if they
//! are known, file, time stamp and size of its image. Below it, each global variable whose place these symbols tell is a line, by name:
//! bytes from where the image begins, name. These differ between kernels that share all else.
//! Types follow by name: `struct` or `union`, name and size; `enum`, name, and its integer as `i` or `u` and bytes.
//! Below a structure, each member is a line: offset, name, type. Below an enumeration: value, name. Last come, by name, structures of
//! which nothing is known but some offsets: `offsets`, name, and below it a line for each of those members, by name: offset, name.
//! Offsets, addresses, sizes and time stamps are hexadecimal with `0x`, all else is decimal. One space indents, and the content of an unnamed
//! type stands one deeper, below the member that has it.
//!
//! | type | is | type | is |
//! |---|---|---|---|
//! | `i1` `i2` `i4` `i8` | `signed char` `short` `long` `long long` | `*T` | pointer to T |
//! | `u1` `u2` `u4` `u8` | the same, `unsigned` | `16[T]` | array of 16 T |
//! | `int` `uint` | `int` `unsigned int` | `3@5:T` | 3 bits from bit 5 on in a unit T |
//! | `c1` `b1` | `char` `bool` | `.NAME` | structure or union by name |
//! | `f4` `f8` | floating point of so many bytes | `#NAME` | enumeration by name |
//! | `void` `fn` | `void`, a function | `struct 0x8` `union 0x8` `enum i4` | unnamed, content below |
//! | | | `?` | unnamed, content not kept |
//!
//! In names, `%` and two hexadecimal digits stand for a byte that would be a space, a control character or `%`; `%` alone
//! is the empty name.

mod parse;
pub(crate) mod text;
mod write;

use crate::identity::{ImageFile, Pdb};
use crate::model::{Arch, Globals, Offsets, Types};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The first line of every snapshot.
const HEADER: &str = "etw-layouts-symbols 1";

/// What every version of the format begins with.
pub(crate) const MAGIC: &str = "etw-layouts-symbols ";

/// The facts of one witness, and the kernels for which they were found.
///
/// It displays as the text that [`Snapshot::parse`] reads: the same facts always give the same bytes, and parsing them
/// gives the same facts, unless they nest deeper than [`crate::MAX_DEPTH`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The program that made the table, as in [`crate::SymbolTable`].
    pub producer: String,
    /// The kernels, of which there is at least one.
    pub kernels: Vec<Kernel>,
    /// What the table states.
    pub types: Types,
    /// What it states of structures that it has not seen whole.
    pub offsets: Offsets,
}

/// A kernel, and the symbols that tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Major and minor version, build, revision.
    pub build: [u32; 4],
    /// The architecture.
    pub arch: Arch,
    /// Its symbol file, if known.
    pub pdb: Option<Pdb>,
    /// Its image, if known.
    pub image: Option<ImageFile>,
    /// Where its global variables are.
    pub globals: Globals,
}

impl Snapshot {
    /// Reads a snapshot. It is strict: whatever the format does not know is an error.
    ///
    /// # Errors
    ///
    /// The first line that is not as documented in [`self`](crate::snapshot), and why.
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

/// Why a snapshot cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1; one past the last if the text ends too early.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; correct it, or make the snapshot again from its table", self.line, self.reason)
    }
}

impl std::error::Error for Error {}
