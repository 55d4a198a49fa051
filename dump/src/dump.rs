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
        Self::with_revision(bytes, 0)
    }

    /// As [`new`](Self::new), for a kernel whose revision is known from another source, such as 264 for 10.0.19041.264. Memory is
    /// then read with the layouts of that revision.
    ///
    /// # Errors
    ///
    /// As of [`new`](Self::new).
    pub fn with_revision(bytes: &'a [u8], revision: u32) -> Result<Self, Error> {
        let mut header = DumpHeader::of(bytes)?;
        header.build.revision = revision;
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
