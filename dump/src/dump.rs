//! A triage dump in memory.

use crate::blob;
use crate::diagnostic::{Diagnostic, DiagnosticKind, report};
use crate::error::Error;
use crate::header::{DumpHeader, TriageOffsets};
use crate::memory::TriageMemory;
use crate::secondary::{self, Blob};
use crate::session::DumpSession;
use etw_layouts::Arch;
use etw_layouts_etl::Uuid;
use std::borrow::Cow;

/// A triage dump in memory.
#[derive(Clone, Debug)]
pub struct Dump<'a> {
    header: DumpHeader,
    memory: TriageMemory<'a>,
    /// Tag, offset and length of each secondary data block.
    blobs: Vec<(Uuid, u64, usize)>,
    sessions: Vec<DumpSession<'static>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Dump<'a> {
    /// Reads a dump in memory, a borrowed slice or an owned vector: headers, location of its memory, secondary data, and sessions.
    ///
    /// # Errors
    ///
    /// The bytes are not a triage dump.
    pub fn from_bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, Error> {
        let bytes = bytes.into();
        let header = DumpHeader::read(&bytes)?;
        Self::with_header(bytes, header)
    }

    /// As [`from_bytes`](Self::from_bytes), with the header of the dump, read by [`DumpHeader::read`].
    ///
    /// # Errors
    ///
    /// The header is not that of a triage dump, or the bytes are too few.
    pub fn with_header(bytes: impl Into<Cow<'a, [u8]>>, header: DumpHeader) -> Result<Self, Error> {
        let bytes = bytes.into();
        let offsets = TriageOffsets::read(&bytes, &header)?;
        let mut diagnostics = Vec::new();
        if !offsets.is_whole(&bytes) {
            report(&mut diagnostics, offsets.valid.into(), DiagnosticKind::Unfinished);
        }
        let memory = TriageMemory::read(bytes, &offsets, header.arch != Arch::X86, &mut diagnostics);
        let blobs = secondary::blobs(memory.file(), &offsets, &mut diagnostics);
        let own = blobs.iter().filter(|blob| blob::is_own(blob));
        let sessions = own.flat_map(|blob| blob::sessions(blob, &header, &mut diagnostics)).collect();
        let blobs = blobs.iter().map(|blob| (blob.tag, blob.offset, blob.data.len())).collect();
        Ok(Self { header, memory, blobs, sessions, diagnostics })
    }

    /// Sets the revision of the kernel, such as 264 for 10.0.19041.264, which a dump does not state. Memory is then read with the
    /// layouts of that revision.
    #[must_use]
    pub fn with_revision(mut self, revision: u32) -> Self {
        self.header.build.revision = revision;
        self.sessions.iter_mut().for_each(|session| session.producer.build.revision = revision);
        self
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
    pub fn blobs(&self) -> Vec<Blob<'_>> {
        let data = |offset, length| self.memory.file().get(offset as usize..)?.get(..length);
        let blob = |&(tag, offset, length)| Blob { tag, offset, data: data(offset, length).unwrap_or_default() };
        self.blobs.iter().map(blob).collect()
    }

    /// The sessions with buffers in the dump.
    pub fn sessions(&self) -> &[DumpSession<'static>] {
        &self.sessions
    }

    /// The diagnostics of the dump, except those of events, which [`DumpSession::events`] returns.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
