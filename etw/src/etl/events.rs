//! `events`.

use super::input::{Files, Opened};
use super::output::{Format, Output};
use super::progress::Progress;
use super::stop::Stop;
use super::tally::Tally;
use etw_layouts_cli::Outcome;
use etw_layouts_etl::{Buffer, Clock, Event, Finding, Guid, HeaderType, Stamp, Trace};
use serde::{Serialize, Serializer};
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::rc::Rc;

/// Print the events of trace files, a line each. Exit status 1 if there are findings.
///
/// A line has the time (UTC), processor, thread and process; the header's type; the provider, or the group of a kernel event;
/// version, opcode and id; and the bytes of the payload. Findings go to the standard error.
///
///     etw etl events trace.etl
///     etw etl events --order time --payload hex trace.etl
///     etw etl events --format json trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// In which order. For that of time the whole file is read into memory.
    #[arg(long, value_enum, default_value_t = Order::File)]
    order: Order,
    /// Print the payload too.
    #[arg(long, value_enum)]
    payload: Option<Payload>,
    /// Stop at the first finding, with exit status 1.
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Order {
    File,
    Time,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Payload {
    Hex,
}

pub fn run(args: &Args, source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let (name, progress) = (source.name, source.progress.clone());
    if out.is_terminal {
        progress.hide();
    }
    let lines = |clock| Lines { args, name, clock, out, progress, tally: Tally::default() };
    match args.order {
        Order::File => in_file(source, lines),
        Order::Time => in_time(source, lines),
    }
}

fn in_file<'a>(source: Opened<'_>, lines: impl FnOnce(Clock) -> Lines<'a>) -> Result<Outcome, Stop> {
    let mut buffers = source.reader()?;
    let mut lines = lines(buffers.log_file().to_clock());
    while let Some(buffer) = buffers.next()? {
        match buffer {
            Ok(image) => {
                let origin = Origin::of(image.buffer());
                for event in image.events() {
                    match event {
                        Ok(event) => lines.event(&event, origin)?,
                        Err(finding) => lines.finding(&finding)?,
                    }
                }
            }
            Err(finding) => lines.finding(&finding)?,
        }
    }
    Ok(lines.end())
}

fn in_time<'a>(source: Opened<'_>, lines: impl FnOnce(Clock) -> Lines<'a>) -> Result<Outcome, Stop> {
    let bytes = source.bytes()?;
    let trace = Trace::new(&bytes).map_err(|error| Stop::Input(error.to_string()))?;
    let mut lines = lines(*trace.clock());
    let mut events = trace.by_time();
    while let Some(event) = events.next_event() {
        match event {
            Ok(timed) => {
                let origin = Origin { buffer: timed.buffer, offset: timed.buffer_offset, processor: timed.processor };
                lines.event(&timed.event, origin)?;
            }
            Err(finding) => lines.finding(&finding)?,
        }
    }
    Ok(lines.end())
}

/// What an event's buffer tells of it.
#[derive(Clone, Copy)]
struct Origin {
    buffer: u32,
    offset: u64,
    processor: u16,
}

impl Origin {
    fn of(buffer: &Buffer<'_>) -> Self {
        Self { buffer: buffer.index(), offset: buffer.offset(), processor: buffer.head().processor() }
    }
}

struct Lines<'a> {
    args: &'a Args,
    name: &'a str,
    clock: Clock,
    out: &'a mut Output,
    progress: Rc<Progress>,
    tally: Tally,
}

/// An event in JSON.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    buffer: u32,
    buffer_offset: u64,
    offset: u32,
    time: Option<i64>,
    #[serde(serialize_with = "utc")]
    time_utc: Option<i64>,
    cpu: u16,
    pid: Option<u32>,
    tid: Option<u32>,
    header: &'a str,
    #[serde(serialize_with = "shown")]
    provider: Option<Guid>,
    id: Option<u16>,
    version: Option<u16>,
    opcode: Option<u8>,
    size: usize,
    payload_size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
}

fn shown<S: Serializer>(value: &Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

fn utc<S: Serializer>(time: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    shown(&time.map(|time| Stamp(time).rfc3339()), serializer)
}

impl Lines<'_> {
    /// Tells of a finding.
    fn finding(&mut self, finding: &Finding) -> Result<(), Stop> {
        if let Some(told) = self.tally.add(Some(self.name), finding) {
            self.progress.beside(|| self.out.aside(&told));
        }
        if self.args.strict { Err(Stop::Strict) } else { Ok(()) }
    }

    /// Tells of findings that were only counted.
    fn end(&self) -> Outcome {
        for told in self.tally.more(Some(self.name)) {
            self.progress.beside(|| self.out.aside(&told));
        }
        self.tally.outcome()
    }

    fn event(&mut self, event: &Event<'_>, origin: Origin) -> io::Result<()> {
        let unknown;
        let header = match event.header_type() {
            HeaderType::Unknown => {
                unknown = format!("UNKNOWN_{:02X}", event.bytes().get(2).copied().unwrap_or_default());
                &unknown
            }
            header_type => header_type.name(),
        };
        let time = event.time_stamp().map(|stamp| self.clock.system_time(stamp));
        let line = Line {
            file: self.name,
            buffer: origin.buffer,
            buffer_offset: origin.offset,
            offset: event.offset(),
            time,
            time_utc: time,
            cpu: origin.processor,
            pid: event.process(),
            tid: event.thread(),
            header,
            provider: event.provider(),
            id: event.id(),
            version: event.version(),
            opcode: event.opcode(),
            size: event.bytes().len(),
            payload_size: event.payload().len(),
            payload: self.args.payload.map(|Payload::Hex| hex(event.payload())),
        };
        match self.out.format {
            Format::Json => {
                serde_json::to_writer(&mut *self.out, &line)?;
                self.out.write_all(b"\n")?;
            }
            Format::Text => self.text(&line, event.hook())?,
        }
        Ok(())
    }

    fn text(&mut self, line: &Line<'_>, hook: Option<u16>) -> io::Result<()> {
        let out = &mut *self.out;
        match line.time {
            Some(time) => write!(out, "{}", Stamp(time))?,
            None => write!(out, "{:27}", "-")?,
        }
        write!(out, "  {:>3} {:>6} {:>6} ", line.cpu, Shown(line.tid), Shown(line.pid))?;
        write!(out, " {:15} ", line.header)?;
        match (line.provider, hook) {
            (Some(guid), _) => write!(out, "{guid}")?,
            (None, Some(hook)) => write!(out, "group {:#04x}{:26}", hook >> 8, "")?,
            (None, None) => write!(out, "{:36}", "-")?,
        }
        write!(out, "  v{} op {}", Shown(line.version), Shown(line.opcode))?;
        match hook {
            Some(hook) => write!(out, " hook {hook:#06x}")?,
            None => write!(out, " id {}", Shown(line.id))?,
        }
        write!(out, "  {} bytes", line.payload_size)?;
        match &line.payload {
            Some(payload) => writeln!(out, "  {payload}"),
            None => writeln!(out),
        }
    }
}

/// A value, or a dash.
struct Shown<T>(Option<T>);

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.pad("-"),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}
