//! The record of a part: its options, traces and files.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options that affect the rows. All parts of a dataset have the same options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The version of the tables.
    pub tables: u32,
    pub format: String,
    pub shape: String,
    pub order: String,
    pub payload: String,
    /// The options that select events and schemas.
    pub selection: String,
}

/// A part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The part's name, which is part of its file names.
    pub part: String,
    pub options: Options,
    pub traces: Vec<Exported>,
    pub files: Vec<Written>,
}

/// A trace in a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exported {
    pub trace: String,
    pub host: Option<String>,
    /// In bytes.
    pub size: u64,
    /// Modification time, in nanoseconds since 1970.
    pub modified: u64,
    /// XXH64 of the contents.
    pub hash: String,
    /// Events in the trace.
    pub events: u64,
    /// Events that were selected.
    pub rows: u64,
    /// Whether the rows are in the requested order.
    pub is_ordered: bool,
    /// Diagnostics by kind.
    pub diagnostics: BTreeMap<String, u64>,
    /// Whether a diagnostic reports corruption.
    pub is_damaged: bool,
}

impl Exported {
    /// Whether events may be missing, or the rows are not in the requested order.
    pub fn is_incomplete(&self) -> bool {
        self.is_damaged || !self.is_ordered
    }
}

/// A file of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Relative to the dataset, with `/`.
    pub path: String,
    /// `events`, `stacks` or `typed`.
    pub table: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<u16>,
    pub rows: u64,
    pub bytes: u64,
}
