//! `info`.

use super::about::About;
use super::diagnostics::{self, DumpDiagnosticLine};
use super::identity::Revision;
use super::sessions::{Line, lines, write_buffers};
use super::{Content, DumpDiagnostic, Files};
use crate::output::stop::Stop;
use crate::output::{Grouped, Output, Several, no_table};
use etw_layouts_cli::Outcome;
use etw_layouts_dump::Dump;
use serde::Serialize;
use std::fmt::{self, Display};

/// Summarize crash dumps and their ETW state. Exit with status 1 if there are diagnostics.
///
/// For a minidump, prints the sessions that the kernel added to the dump, and the trace buffers and registrations
/// found in its memory ranges. For a full dump, walks the kernel structures from the global variables, prints
/// sessions, consumers, and providers with their registrations, and reports suspected tampering as findings.
///
///     etw dump info minidump.dmp
///     etw dump info --details minidump.dmp
///     etw dump info --details --symbols ntkrnlmp.pdb MEMORY.DMP
///     etw dump info --format json folder | jq .sessions
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Print each memory range, buffer and registration and all diagnostics; for full dumps also layouts, modules, providers and
    /// consumers. JSON always contains these, except for the diagnostics after the first hundred of each kind.
    #[arg(long)]
    pub(crate) details: bool,
}

/// The summary of a dump. `None` means that the dump does not state the value.
#[derive(Serialize)]
struct Info<'a> {
    #[serde(flatten)]
    about: About<'a>,
    kernel: &'a Revision,
    /// Notes on options without effect.
    notes: Vec<String>,
    memory_bytes: u64,
    /// Memory ranges without overlaps.
    memory: Vec<Piece>,
    secondary_data: Vec<Data>,
    sessions: Vec<Line<'a>>,
    trace_buffers: Vec<TraceBuffer>,
    registrations: Vec<Registration>,
    diagnostics_total: usize,
    /// The first hundred of each kind, then a count of the others.
    diagnostics: Vec<DumpDiagnosticLine<'a>>,
    #[serde(skip)]
    details: bool,
}

/// A memory range.
#[derive(Serialize)]
struct Piece {
    address: String,
    size: usize,
}

/// A block of secondary data.
#[derive(Serialize)]
struct Data {
    tag: String,
    offset: u64,
    size: usize,
}

/// A trace buffer in memory.
#[derive(Serialize)]
struct TraceBuffer {
    address: String,
    logger_id: u16,
    size: u32,
    events: usize,
}

/// A registration in memory.
#[derive(Serialize)]
struct Registration {
    address: String,
    guid: Option<String>,
    /// The address of the GUID entry; if the GUID is unknown, the entry is not in the dump.
    guid_entry: String,
    flags: Vec<&'static str>,
}

pub fn run(
    content: &Content<'_>,
    details: bool,
    dump: &Dump<'_>,
    kernel: &Revision,
    notes: Vec<String>,
    out: &mut Output,
) -> Result<Outcome, Stop> {
    let (sessions, found) = lines(None, &content.sessions, None);
    let diagnostics: Vec<DumpDiagnostic> =
        content.diagnostics.iter().cloned().chain(found.into_iter().map(DumpDiagnostic::Dump)).collect();
    let info = Info {
        about: About::new(content.name, dump.header()),
        kernel,
        notes,
        memory_bytes: dump.memory().bytes(),
        memory: dump.memory().iter().map(|(address, bytes)| Piece { address: address.to_string(), size: bytes.len() }).collect(),
        secondary_data: dump
            .blobs()
            .iter()
            .map(|blob| Data { tag: blob.tag.to_string(), offset: blob.offset, size: blob.data.len() })
            .collect(),
        sessions,
        trace_buffers: dump
            .trace_buffers()
            .iter()
            .map(|buffer| TraceBuffer {
                address: buffer.address.to_string(),
                logger_id: buffer.header.logger,
                size: buffer.header.size,
                events: buffer.events,
            })
            .collect(),
        registrations: dump
            .registrations()
            .into_iter()
            .map(|registration| Registration {
                address: registration.entry.address().to_string(),
                guid: registration.guid.map(|guid| guid.to_string()),
                guid_entry: registration.guid_entry.to_string(),
                flags: registration.flags,
            })
            .collect(),
        diagnostics_total: diagnostics.len(),
        diagnostics: diagnostics::lines(None, &diagnostics, details),
        details,
    };
    out.line(&info)?;
    Ok(diagnostics::outcome(&diagnostics))
}

impl Display for Info<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.about, self.kernel)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note           {note}"))?;
        let ranges = Several(self.memory.len() as u64, "range");
        writeln!(f, "  memory         {} bytes in {ranges}", Grouped(self.memory_bytes))?;
        let events: usize = self.trace_buffers.iter().map(|buffer| buffer.events).sum();
        let (buffers, events) = (Several(self.trace_buffers.len() as u64, "buffer"), Several(events as u64, "event"));
        writeln!(f, "  trace buffers  {buffers} with {events}, of sessions that are not listed below")?;
        writeln!(f, "  registrations  {}", self.registrations.len())?;
        let bytes: usize = self.secondary_data.iter().map(|data| data.size).sum();
        let blocks = Several(self.secondary_data.len() as u64, "block");
        writeln!(f, "  secondary data {} bytes in {blocks}", Grouped(bytes as u64))?;
        write!(f, "  sessions       {}", self.sessions.len())?;
        for session in &self.sessions {
            write!(f, "\n    {session}")?;
        }
        if self.details {
            self.details(f)?;
        }
        write!(f, "\n  diagnostics    {}", self.diagnostics_total)?;
        for diagnostic in &self.diagnostics {
            write!(f, "\n    {diagnostic}")?;
        }
        Ok(())
    }
}

impl Info<'_> {
    /// The additional lines of --details.
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  memory")?;
        for Piece { address, size } in &self.memory {
            write!(f, "\n    {address}  {size:#x} bytes")?;
        }
        write!(f, "\n  buffers in memory")?;
        for TraceBuffer { address, logger_id, size, events } in &self.trace_buffers {
            write!(f, "\n    {address}  session {logger_id}, {size:#x} bytes, {events} events")?;
        }
        write!(f, "\n  registrations")?;
        for Registration { address, guid, guid_entry, flags } in &self.registrations {
            match guid {
                Some(guid) => write!(f, "\n    {address}  {guid}")?,
                None => write!(f, "\n    {address}  GUID entry {guid_entry} is not in the dump")?,
            }
            write!(f, "  {}", flags.join(" "))?;
        }
        write!(f, "\n  secondary data")?;
        for Data { tag, offset, size } in &self.secondary_data {
            write!(f, "\n    {tag}  {size:#x} bytes at {offset:#x}")?;
        }
        write_buffers(f, &self.sessions)
    }
}
