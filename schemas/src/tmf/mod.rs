//! Messages of the Windows software trace preprocessor (WPP): read from trace message format files (TMF) or program databases (PDB), and their payloads
//! as text.
//!
//! A WPP event has the GUID and number of a message, and its arguments as bytes. Only the TMF file, or the private PDB, has the text.

mod argument;
mod parse;
#[cfg(feature = "pdb")]
mod pdb;
mod printf;
mod schema;
mod text;

pub use argument::{WppArgument, WppType};
pub use parse::{is_tmf, read};
#[cfg(feature = "pdb")]
pub use pdb::read_pdb;
pub use text::WppText;

use etw_layouts_payload::Uuid;
use std::sync::Arc;

/// A message of a TMF file or a program database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WppMessage {
    /// GUID of the messages of a source file. Events have it instead of a provider.
    pub guid: Uuid,
    /// Number of the message. In events, it is the ID.
    pub number: u16,
    /// Component, often the name of the binary.
    pub component: Arc<str>,
    /// Source file with line, such as `driver_c123`.
    pub name: String,
    /// Level, such as `TRACE_LEVEL_ERROR`; empty if the file does not state it.
    pub level: String,
    /// Flags; empty if the file does not state them.
    pub flags: String,
    /// Function; empty if the file does not state it.
    pub function: Arc<str>,
    /// Text with insertions such as `%10!d!`: the number of an argument and a conversion of `printf`.
    pub format: String,
    /// Arguments in the order of the payload.
    pub arguments: Vec<WppArgument>,
}
