//! `cargo xtask etl events`.

use super::{Files, Format, Found, Progress, with_trace};
use crate::{Error, Outcome};
use etw_layouts_etl::{Event, Finding, Guid, Kind, Scratch, Stamp, Trace};
use serde::{Serialize, Serializer};
use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};

/// Print the events of trace files, a line each.
///
/// A line has the time (UTC), processor, thread and process; the header's type; the provider, or the group of a kernel event;
/// version, opcode and id; and the bytes of the payload. Findings go to the standard error.
///
///     cargo xtask etl events trace.etl
///     cargo xtask etl events --order time --payload hex trace.etl
///     cargo xtask etl events --format json trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    input: Files,
    /// In which order.
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

pub fn run(args: &Args, out: &mut impl Write) -> Result<Outcome, Error> {
    for path in &args.input.files {
        let outcome = with_trace(path, |name, trace| {
            // Where the lines are on the terminal, they are progress enough.
            let progress = if io::stdout().is_terminal() { None } else { Some(Progress::new(name, trace)?) };
            let mut lines = Lines { args, name, trace, out, progress, outcome: Outcome::Good };
            match args.order {
                Order::File => lines.in_file()?,
                Order::Time => lines.in_time()?,
            }
            Ok(lines.outcome)
        })?;
        if outcome == Outcome::Differs {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Good)
}

struct Lines<'a, W> {
    args: &'a Args,
    name: &'a str,
    trace: &'a Trace<'a>,
    out: &'a mut W,
    progress: Option<Progress>,
    outcome: Outcome,
}

/// An event in JSON.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    buffer: u32,
    offset: u32,
    time: Option<i64>,
    cpu: u16,
    pid: Option<u32>,
    tid: Option<u32>,
    header: &'a str,
    #[serde(serialize_with = "guid")]
    provider: Option<Guid>,
    id: Option<u16>,
    version: Option<u16>,
    opcode: Option<u8>,
    size: usize,
    payload_size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
}

fn guid<S: Serializer>(guid: &Option<Guid>, serializer: S) -> Result<S::Ok, S::Error> {
    match guid {
        Some(guid) => serializer.collect_str(guid),
        None => serializer.serialize_none(),
    }
}

impl<W: Write> Lines<'_, W> {
    fn in_file(&mut self) -> Result<(), Error> {
        let mut scratch = Scratch::default();
        for buffer in self.trace.buffers() {
            let buffer = match buffer {
                Ok(buffer) => buffer,
                Err(finding) if self.stops(&finding)? => return Ok(()),
                Err(_) => continue,
            };
            self.reached(buffer.offset());
            let processor = buffer.head().processor();
            for event in buffer.image(&mut scratch).events() {
                match event {
                    Ok(event) => self.event(&event, processor, buffer.index())?,
                    Err(finding) if self.stops(&finding)? => return Ok(()),
                    Err(_) => {}
                }
            }
        }
        Ok(())
    }

    fn in_time(&mut self) -> Result<(), Error> {
        let mut events = self.trace.by_time();
        let mut buffer = 0;
        while let Some(event) = events.next_event() {
            match event {
                Ok(timed) => {
                    if buffer != timed.buffer {
                        buffer = timed.buffer;
                        self.reached(timed.offset);
                    }
                    self.event(&timed.event, timed.processor, timed.buffer)?;
                }
                Err(finding) if self.stops(&finding)? => return Ok(()),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn reached(&self, offset: u64) {
        self.progress.iter().for_each(|progress| progress.at(offset));
    }

    /// Tells of a finding, and whether it is the end.
    fn stops(&mut self, finding: &Finding) -> Result<bool, Error> {
        let line = match self.args.input.format {
            Format::Text => format!("{}: {finding}", self.name),
            Format::Json => serde_json::to_string(&Found::new(Some(self.name), finding))?,
        };
        match &self.progress {
            Some(progress) => progress.beside(|| anstream::eprintln!("{line}")),
            None => anstream::eprintln!("{line}"),
        }
        if self.args.strict {
            self.outcome = Outcome::Differs;
        }
        Ok(self.args.strict)
    }

    fn event(&mut self, event: &Event<'_>, cpu: u16, buffer: u32) -> Result<(), Error> {
        let unknown;
        let header = match event.kind() {
            Kind::Unknown => {
                unknown = format!("UNKNOWN_{:02X}", event.bytes().get(2).copied().unwrap_or_default());
                &unknown
            }
            kind => kind.name(),
        };
        let line = Line {
            file: self.name,
            buffer,
            offset: event.offset(),
            time: event.time_stamp().map(|stamp| self.trace.clock().system_time(stamp)),
            cpu,
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
        match self.args.input.format {
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
