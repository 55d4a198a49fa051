//! The record of a part: its options, traces and files.

use super::paths;
use crate::output::Several;
use etw_layouts_etl::{DiagnosticKind, LogFile};
use etw_layouts_table::TraceRow;
use serde::{Deserialize, Serialize};
use serde_json::Value;
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
    /// The options that select events, by their names.
    pub selection: Value,
    /// The SHA-256 of the schemas in each path that the user named, in order.
    #[serde(default)]
    pub schemas: Vec<String>,
}

/// Maximum size of a record, in bytes.
pub const LIMIT: u64 = 64 << 20;

/// A part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The part's name, which is part of its file names.
    pub part: String,
    pub options: Options,
    pub traces: Vec<Exported>,
    pub files: Vec<Written>,
    /// Whether a file is missing, or has another size.
    #[serde(skip)]
    pub is_broken: bool,
}

/// A trace in a part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Exported {
    /// The name in the rows: unique in the dataset.
    pub trace: String,
    /// The absolute path of the file.
    pub path: String,
    pub session: Session,
    pub host: Option<String>,
    /// In bytes.
    pub size: u64,
    /// Modification time, in nanoseconds since 1970.
    pub modified: u64,
    /// Time of the last change of its inode, or without inodes of its creation, in nanoseconds since 1970.
    pub changed: u64,
    /// SHA-256 of the contents.
    pub hash: String,
    /// Events in the trace.
    pub events: u64,
    /// Events that were selected.
    pub rows: u64,
    /// Whether the rows are in the requested order.
    pub is_ordered: bool,
    /// Diagnostics by kind, and the number of payloads that are longer than their schemas.
    pub diagnostics: BTreeMap<String, u64>,
    /// Whether the file is damaged. Payloads that are not decoded to the end are diagnostics, but no damage.
    pub is_damaged: bool,
    /// Whether the file is no longer at its path: it was removed, or another file replaced it.
    pub is_gone: bool,
    /// Whether rows are missing, because a file of the dataset was.
    pub is_partial: bool,
}

/// What two files of one session have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    pub logger: String,
    /// System time at the start of the session and of Windows, in units of 100 ns since 1601.
    pub start: i64,
    pub boot: i64,
}

impl Record {
    /// Parses the record of a part. Its files have names that an export gives to the files of this part.
    pub fn parse(bytes: &[u8], part: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if record.part != part {
            return Err(format!("it is the record of another part, `{}`", record.part.escape_debug()));
        }
        match record.files.iter().find(|file| !paths::is_file(&file.path, part)) {
            Some(file) => Err(format!("it names a file that an export does not write, `{}`", file.path.escape_debug())),
            None => Ok(record),
        }
    }
}

impl Session {
    /// The session of a file.
    pub fn of(log: &LogFile) -> Self {
        Self { logger: log.logger_name.clone(), start: log.start_time, boot: log.boot_time }
    }
}

impl Exported {
    /// The row of the trace, which has this log file header.
    pub fn row<'a>(&'a self, log: &'a LogFile) -> TraceRow<'a> {
        TraceRow {
            trace: &self.trace,
            path: Some(&self.path),
            hash: &self.hash,
            size: self.size,
            host: self.host.as_deref(),
            log,
            events: self.events,
            rows: self.rows,
            diagnostics: self.diagnostics.values().sum(),
            is_damaged: self.is_damaged,
        }
    }

    /// Whether this trace is a later state of the file of the other one: the same session, with more bytes.
    pub fn replaces(&self, other: &Self) -> bool {
        self.path == other.path && self.session == other.session && self.size > other.size
    }

    /// Whether there are diagnostics, or the rows are not in the requested order.
    pub fn has_diagnostics(&self) -> bool {
        self.diagnostics.keys().any(|kind| kind != DiagnosticKind::UNCOVERED) || !self.is_ordered
    }

    /// The diagnostics in words.
    pub fn summary(&self) -> String {
        let count = |(kind, count): (&String, &u64)| match kind.as_str() {
            DiagnosticKind::UNCOVERED => format!("{} longer than the schema", Several(*count, "payload")),
            "fields" => format!("{} not decoded to the end", Several(*count, "payload")),
            _ => format!("{count} {kind}"),
        };
        let order = (!self.is_ordered).then(|| "rows not in the order of time".to_owned());
        self.diagnostics.iter().map(count).chain(order).collect::<Vec<_>>().join(", ")
    }
}

/// A file of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Relative to the dataset, with `/`.
    pub path: String,
    /// `events`, `stacks`, `traces` or `typed`.
    pub table: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event: Option<String>,
    pub rows: u64,
    pub bytes: u64,
}
