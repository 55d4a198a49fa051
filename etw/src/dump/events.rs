//! `events`.

use super::{Content, Files, Wrong, tally};
use crate::etl::line::header;
use crate::etl::output::{Escaped, Output};
use crate::etl::stop::Stop;
use etw_layouts_cli::Outcome;
use etw_layouts_dump::{Session, Timed, by_time};
use etw_layouts_etl::Stamp;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::{self, Display};

/// Print the events of the sessions in crash dumps in the order of time, a line each. Exit status 1 if there are findings.
///
/// A line has the time (UTC), processor, thread and process; the header's type; the provider, or that of a kernel event's
/// group; version, opcode and id; the bytes of the payload; and the name of the session. Findings go to the standard error. `etw dump save` makes a trace file of each session, for `etw etl events`.
///
///     etw dump events minidump.dmp
///     etw dump events --session EventLog-System --format json minidump.dmp
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only the sessions of this name. Repeatable.
    #[arg(long, value_name = "NAME")]
    session: Vec<String>,
}

/// An event.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    session: &'a str,
    logger_id: u32,
    buffer: u32,
    buffer_offset: u64,
    /// Where the buffer was in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer_address: Option<String>,
    offset: u32,
    time: Option<i64>,
    time_utc: Option<String>,
    cpu: u16,
    pid: Option<u32>,
    tid: Option<u32>,
    header: Cow<'static, str>,
    provider: Option<String>,
    id: Option<u16>,
    version: Option<u16>,
    opcode: Option<u8>,
    size: usize,
    payload_size: usize,
}

pub fn run(args: &Args, content: &Content<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let mut findings = content.findings.clone();
    let (events, found) = by_time(&content.sessions);
    findings.extend(found.into_iter().map(Wrong::Dump));
    let wanted = |session: &&Session<'_>| args.session.is_empty() || args.session.contains(&session.name);
    for (number, event) in &events {
        if let Some(session) = content.sessions.get(*number).filter(wanted) {
            out.line(&Line::of(content.name, session, event))?;
        }
    }
    tally::aside(content.name, &findings, out);
    Ok(tally::outcome(&findings))
}

impl<'a> Line<'a> {
    fn of(file: &'a str, session: &'a Session<'_>, timed: &Timed<'_>) -> Self {
        let event = &timed.event;
        let buffer = session.buffers.get(timed.buffer as usize);
        Self {
            file,
            session: &session.name,
            logger_id: session.logger_id,
            buffer: timed.buffer,
            buffer_offset: buffer.map_or(0, |buffer| buffer.offset),
            buffer_address: buffer.and_then(|buffer| buffer.address).map(|address| address.to_string()),
            offset: event.offset(),
            time: timed.time,
            time_utc: timed.time.map(|time| Stamp(time).rfc3339().to_string()),
            cpu: timed.processor,
            pid: event.process(),
            tid: event.thread(),
            header: header(event).map_or_else(|ty| format!("UNKNOWN_{ty:02X}").into(), Cow::from),
            provider: event.provider().map(|provider| provider.to_string()),
            id: event.id(),
            version: event.version(),
            opcode: event.opcode(),
            size: event.bytes().len(),
            payload_size: event.payload().len(),
        }
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dash = |number: Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
        match self.time {
            Some(time) => write!(f, "{}", Stamp(time))?,
            None => write!(f, "{:27}", "-")?,
        }
        write!(f, "  {:>3} {:>6} {:>6}  {:15} ", self.cpu, dash(self.tid), dash(self.pid), self.header)?;
        write!(f, "{:36}", self.provider.as_deref().unwrap_or("-"))?;
        let [version, opcode, id] = [self.version, self.opcode.map(u16::from), self.id].map(|number| dash(number.map(u32::from)));
        write!(f, "  v{version} op {opcode} id {id}  {} bytes  {}", self.payload_size, Escaped(self.session))
    }
}
