//! Diagnostics of the files of a trace.

use crate::text::shortened;
use etw_layouts_trace::{Trace, TraceFile};
use serde::Serialize;
use std::collections::BTreeMap;

/// Diagnostics by file and kind.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The kinds of diagnostics of each file, those for information last.
    pub kinds: Vec<DiagnosticKind>,
    /// Number of diagnostics of further kinds.
    pub more: u64,
    /// Number of diagnostics whose kinds are not known, because there are more than a trace keeps.
    pub unknown: u64,
    /// Number of diagnostics of all known kinds, without those for information.
    #[serde(skip)]
    pub damage: u64,
}

/// The diagnostics of a kind in a file.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DiagnosticKind {
    /// Name of the file.
    pub file: String,
    /// Name of the kind.
    pub kind: &'static str,
    /// Whether it is for information only.
    pub is_note: bool,
    /// Their number.
    pub count: u64,
    /// Place of the first one: number of the buffer, its offset in the file, and the offset in the buffer.
    pub buffer: u32,
    /// Offset of the buffer in the file.
    pub buffer_offset: u64,
    /// Offset in the buffer.
    pub offset: u32,
    /// Text of the first one.
    pub message: String,
}

impl Diagnostics {
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut kinds = BTreeMap::<_, DiagnosticKind>::new();
        for (file, diagnostic) in trace.diagnostics() {
            let (kind, is_note) = (diagnostic.kind.name(), !diagnostic.is_damage());
            let first = || DiagnosticKind {
                file: trace.files().get(*file).map(TraceFile::name).map(shortened).unwrap_or_default(),
                kind,
                is_note,
                count: 0,
                buffer: diagnostic.buffer,
                buffer_offset: diagnostic.buffer_offset,
                offset: diagnostic.offset,
                message: shortened(&diagnostic.kind.to_string()),
            };
            kinds.entry((is_note, *file, kind)).or_insert_with(first).count += 1;
        }
        let mut kinds: Vec<_> = kinds.into_values().collect();
        let damage = kinds.iter().filter(|kind| !kind.is_note).map(|kind| kind.count).sum();
        let more = kinds.iter().skip(MAX_KINDS).map(|kind| kind.count).sum();
        kinds.truncate(MAX_KINDS);
        Self { kinds, more, unknown: trace.more_diagnostics(), damage }
    }
}

/// Maximum number of kinds of all files.
const MAX_KINDS: usize = 100;
