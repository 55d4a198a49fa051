//! Diagnostics of the files of a trace.

use crate::text::shortened;
use etw_layouts_trace::{Trace, TraceFile};
use serde::Serialize;
use std::collections::BTreeMap;

/// Diagnostics by file and kind.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The kinds of diagnostics of each file.
    pub kinds: Vec<DiagnosticKind>,
    /// Number of diagnostics that are in no kind, because more were found than a trace keeps.
    pub more: u64,
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
            let kind = diagnostic.kind.name();
            let first = || DiagnosticKind {
                file: trace.files().get(*file).map(TraceFile::name).map(shortened).unwrap_or_default(),
                kind,
                is_note: !diagnostic.is_damage(),
                count: 0,
                buffer: diagnostic.buffer,
                buffer_offset: diagnostic.buffer_offset,
                offset: diagnostic.offset,
                message: shortened(&diagnostic.kind.to_string()),
            };
            kinds.entry((*file, kind)).or_insert_with(first).count += 1;
        }
        let mut more = trace.more_diagnostics();
        let mut kinds: Vec<_> = kinds.into_values().collect();
        more += kinds.iter().skip(MAX_KINDS).map(|kind| kind.count).sum::<u64>();
        kinds.truncate(MAX_KINDS);
        Self { kinds, more }
    }

    /// Number of diagnostics, without those for information.
    pub(crate) fn damage(&self) -> u64 {
        self.kinds.iter().filter(|kind| !kind.is_note).map(|kind| kind.count).sum::<u64>() + self.more
    }
}

/// Maximum number of kinds of all files.
const MAX_KINDS: usize = 100;
