//! `info`.

use super::about::About;
use super::kernel::Revision;
use super::sessions::{Line, lines, write_buffers};
use super::tally::{Told, told};
use super::{Content, Files, Wrong, tally};
use crate::etl::output::{Grouped, Output, no_table};
use crate::etl::stop::Stop;
use etw_layouts_cli::Outcome;
use etw_layouts_dump::Dump;
use serde::Serialize;
use std::fmt::{self, Display};

/// Tell what crash dumps are of, and what ETW has in them. Exit status 1 if there are findings.
///
/// In a minidump, sessions come from the data that the kernel adds to it, and trace buffers and registrations are those
/// that were found in its pieces of memory. In a full dump all is walked from where the kernel has it: sessions,
/// providers with their registrations, consumers; and held against each other for what looks tampered with.
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
    /// Print everything that is counted: pieces of memory, buffers, registrations, all findings; of full dumps layouts, modules, providers
    /// and consumers too. json has all of that but the findings beyond the first hundred of a kind anyway.
    #[arg(long)]
    pub(crate) details: bool,
}

/// What a dump is and holds. What it does not tell is `None`.
#[derive(Serialize)]
struct Info<'a> {
    #[serde(flatten)]
    about: About<'a>,
    kernel: &'a Revision,
    /// What was asked for and has no effect.
    notes: Vec<String>,
    memory_bytes: u64,
    /// The pieces of it, of which no two overlap.
    memory: Vec<Piece>,
    secondary_data: Vec<Data>,
    sessions: Vec<Line<'a>>,
    trace_buffers: Vec<TraceBuffer>,
    registrations: Vec<Registration>,
    findings_total: usize,
    /// The first hundred of each kind, and then how many more there are.
    findings: Vec<Told<'a>>,
    #[serde(skip)]
    details: bool,
}

/// A piece of memory.
#[derive(Serialize)]
struct Piece {
    address: String,
    size: usize,
}

/// A piece of secondary data.
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
    /// Where the entry of the GUID was; if the GUID is not known, the dump does not have it.
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
    let findings: Vec<Wrong> = content.findings.iter().cloned().chain(found.into_iter().map(Wrong::Dump)).collect();
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
                logger_id: buffer.head.logger,
                size: buffer.head.size,
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
        findings_total: findings.len(),
        findings: told(None, &findings, details),
        details,
    };
    out.line(&info)?;
    Ok(tally::outcome(&findings))
}

impl Display for Info<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.about, self.kernel)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note        {note}"))?;
        writeln!(f, "  memory      {} bytes in {} pieces", Grouped(self.memory_bytes), self.memory.len())?;
        let events: usize = self.trace_buffers.iter().map(|buffer| buffer.events).sum();
        writeln!(f, "    buffers   {}, with {} events", self.trace_buffers.len(), Grouped(events as u64))?;
        writeln!(f, "    registrations {}", self.registrations.len())?;
        let bytes: usize = self.secondary_data.iter().map(|data| data.size).sum();
        writeln!(f, "  secondary   {} bytes under {} tags", Grouped(bytes as u64), self.secondary_data.len())?;
        write!(f, "  sessions    {}", self.sessions.len())?;
        for session in &self.sessions {
            write!(f, "\n    {session}")?;
        }
        if self.details {
            self.details(f)?;
        }
        write!(f, "\n  findings    {}", self.findings_total)?;
        for finding in &self.findings {
            write!(f, "\n    {finding}")?;
        }
        Ok(())
    }
}

impl Info<'_> {
    /// What is told on demand.
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
                None => write!(f, "\n    {address}  of the entry {guid_entry}, which is not in the dump")?,
            }
            write!(f, "  {}", flags.join(" "))?;
        }
        write!(f, "\n  secondary")?;
        for Data { tag, offset, size } in &self.secondary_data {
            write!(f, "\n    {tag}  {size:#x} bytes at {offset:#x}")?;
        }
        write_buffers(f, &self.sessions)
    }
}
