//! `info`.

use super::about::About;
use super::diagnostics::{self, DumpDiagnosticLine};
use super::identity::Revision;
use super::sessions::{Line, lines, write_buffers, write_list};
use super::{Content, DumpDiagnostic, Files};
use crate::object::object;
use crate::output::stop::Stop;
use crate::output::{Grouped, Output, Several, no_table};
use etw_layouts_cli::Outcome;
use etw_layouts_dump::{Dump, PoolRegistration, TraceBuffer};
use serde::Serialize;
use std::fmt::{self, Display};

/// Summarize crash dumps and their ETW state. Exit with status 1 if there are diagnostics.
///
/// For a minidump, prints the sessions that the kernel added to the dump, and the trace buffers and registrations
/// found in its memory ranges. For other dumps, walks the kernel structures from the global variables, prints
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

/// The summary of a dump.
struct Info<'a> {
    about: About<'a>,
    dump: &'a Dump<'a>,
    kernel: &'a Revision,
    /// Notes on options without effect.
    notes: Vec<String>,
    sessions: Vec<Line<'a>>,
    trace_buffers: Vec<TraceBuffer<'a>>,
    registrations: Vec<PoolRegistration>,
    diagnostics_total: usize,
    /// The first hundred of each kind, then a count of the others.
    diagnostics: Vec<DumpDiagnosticLine<'a>>,
    details: bool,
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
        about: About { file: content.name, header: dump.header() },
        dump,
        kernel,
        notes,
        sessions,
        trace_buffers: dump.trace_buffers(),
        registrations: dump.registrations(),
        diagnostics_total: diagnostics.len(),
        diagnostics: diagnostics::lines(None, &diagnostics, details),
        details,
    };
    out.write_line(&info, &info.json())?;
    Ok(diagnostics::outcome(&diagnostics))
}

impl Info<'_> {
    fn json(&self) -> impl Serialize {
        let memory = self.dump.memory().iter();
        let blobs = self.dump.blobs();
        let data = blobs.iter().map(|blob| object! { tag: blob.tag.to_string(), offset: blob.offset, size: blob.data.len() });
        let trace_buffers = self.trace_buffers.iter().map(|buffer| {
            object! {
                address: buffer.address.to_string(),
                logger_id: buffer.header.logger,
                size: buffer.header.size,
                events: buffer.events,
            }
        });
        let registrations = self.registrations.iter().map(|registration| {
            object! {
                address: registration.entry.address().to_string(),
                guid: registration.guid.map(|guid| guid.to_string()),
                // If the GUID is unknown, its entry is not in the dump.
                guid_entry: registration.guid_entry.to_string(),
                flags: &registration.flags,
            }
        });
        object! {
            #[serde(flatten)] about: self.about.json(),
            kernel: self.kernel,
            notes: &self.notes,
            memory_bytes: self.dump.memory().bytes(),
            // Memory ranges without overlaps.
            memory: memory.map(|(at, bytes)| object! { address: at.to_string(), size: bytes.len() }).collect::<Vec<_>>(),
            secondary_data: data.collect::<Vec<_>>(),
            sessions: &self.sessions,
            trace_buffers: trace_buffers.collect::<Vec<_>>(),
            registrations: registrations.collect::<Vec<_>>(),
            diagnostics_total: self.diagnostics_total,
            diagnostics: &self.diagnostics,
        }
    }

    /// The additional lines of --details.
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  memory")?;
        for (address, bytes) in self.dump.memory().iter() {
            write!(f, "\n    {address}  {:#x} bytes", bytes.len())?;
        }
        write!(f, "\n  buffers in memory")?;
        for TraceBuffer { address, header, events, .. } in &self.trace_buffers {
            write!(f, "\n    {address}  session {}, {:#x} bytes, {events} events", header.logger, header.size)?;
        }
        write!(f, "\n  registrations")?;
        for PoolRegistration { entry, guid, guid_entry, flags } in &self.registrations {
            let address = entry.address();
            match guid {
                Some(guid) => write!(f, "\n    {address}  {guid}")?,
                None => write!(f, "\n    {address}  GUID entry {guid_entry} is not in the dump")?,
            }
            write!(f, "  {}", flags.join(" "))?;
        }
        write!(f, "\n  secondary data")?;
        for blob in self.dump.blobs() {
            write!(f, "\n    {}  {:#x} bytes at {:#x}", blob.tag, blob.data.len(), blob.offset)?;
        }
        write_buffers(f, &self.sessions)
    }
}

impl Display for Info<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.about, self.kernel)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note           {note}"))?;
        let memory = self.dump.memory();
        let ranges = Several(memory.iter().count() as u64, "range");
        writeln!(f, "  memory         {} bytes in {ranges}", Grouped(memory.bytes()))?;
        let events: usize = self.trace_buffers.iter().map(|buffer| buffer.events).sum();
        let (buffers, events) = (Several(self.trace_buffers.len() as u64, "buffer"), Several(events as u64, "event"));
        writeln!(f, "  trace buffers  {buffers} with {events}, of sessions that are not listed below")?;
        writeln!(f, "  registrations  {}", self.registrations.len())?;
        let blobs = self.dump.blobs();
        let (bytes, blocks) = (blobs.iter().map(|blob| blob.data.len()).sum::<usize>(), Several(blobs.len() as u64, "block"));
        writeln!(f, "  secondary data {} bytes in {blocks}", Grouped(bytes as u64))?;
        write_list(f, "sessions", self.sessions.len(), &self.sessions)?;
        if self.details {
            self.details(f)?;
        }
        f.write_str("\n")?;
        write_list(f, "diagnostics", self.diagnostics_total, &self.diagnostics)
    }
}
