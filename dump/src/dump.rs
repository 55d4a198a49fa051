//! A triage dump in memory.

use crate::blob;
use crate::diagnostic::{Diagnostic, DiagnosticKind, report};
use crate::error::Error;
use crate::header::{DumpHeader, TriageOffsets};
use crate::memory::TriageMemory;
use crate::secondary::{self, Blob};
use crate::session::DumpSession;
use etw_layouts::Arch;

/// A triage dump.
#[derive(Clone, Debug)]
pub struct Dump<'a> {
    header: DumpHeader,
    memory: TriageMemory<'a>,
    blobs: Vec<Blob<'a>>,
    sessions: Vec<DumpSession<'a>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Dump<'a> {
    /// Reads a dump: headers, location of its memory, secondary data, and sessions.
    ///
    /// # Errors
    ///
    /// The bytes are not a triage dump.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::with_header(bytes, DumpHeader::of(bytes)?)
    }

    /// As [`new`](Self::new), with the header of the dump, read by [`DumpHeader::of`]. A caller that knows the revision of the kernel
    /// from another source sets it in the header's build, such as 264 for 10.0.19041.264; memory is then read with the layouts of
    /// that revision.
    ///
    /// # Errors
    ///
    /// The header is not that of a triage dump, or the bytes are too few.
    pub fn with_header(bytes: &'a [u8], header: DumpHeader) -> Result<Self, Error> {
        let offsets = TriageOffsets::read(bytes, &header)?;
        let mut diagnostics = Vec::new();
        if !offsets.is_whole(bytes) {
            report(&mut diagnostics, offsets.valid.into(), DiagnosticKind::Unfinished);
        }
        let memory = TriageMemory::read(bytes, &offsets, header.arch != Arch::X86, &mut diagnostics);
        let blobs = secondary::blobs(bytes, &offsets, &mut diagnostics);
        let own = blobs.iter().filter(|blob| blob::is_own(blob));
        let sessions = own.flat_map(|blob| blob::sessions(blob, &header, &mut diagnostics)).collect();
        Ok(Self { header, memory, blobs, sessions, diagnostics })
    }

    /// The properties of the dump and its system.
    pub fn header(&self) -> &DumpHeader {
        &self.header
    }

    /// The pieces of memory in the dump.
    pub fn memory(&self) -> &TriageMemory<'a> {
        &self.memory
    }

    /// The secondary data of the dump.
    pub fn blobs(&self) -> &[Blob<'a>] {
        &self.blobs
    }

    /// The sessions whose buffers are in the dump.
    pub fn sessions(&self) -> &[DumpSession<'a>] {
        &self.sessions
    }

    /// The diagnostics of the dump, except those of events, which [`DumpSession::events`] returns.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
