//! `events`.

use super::columns::{self, Column};
use super::input::{Files, Opened};
use super::line::{Line, Origin};
use super::output::{Format, Output};
use super::progress::Progress;
use super::stop::Stop;
use super::tally::Tally;
use super::wanted::Wanted;
use etw_layouts_cli::Outcome;
use etw_layouts_etl::{Clock, Event, Filter, Finding, LogFile, Trace};
use std::io::{self, Write};
use std::rc::Rc;

/// Print the events of trace files, a line each. Exit status 1 if there are findings.
///
/// The first line names the columns. A line has the time (UTC), processor, thread and process; the header's type; the provider,
/// or the group of a kernel event; version and opcode; the bytes of the payload; and the id, of a kernel event the name of
/// its hook identifier. --columns chooses others; json has all of them. Findings go to the standard error.
///
///     etw etl events trace.etl
///     etw etl events --order time --payload hex trace.etl
///     etw etl events --provider PROCESS --from 1.5 --to 2 trace.etl
///     etw etl events --level 1 --level 2 --columns default,level,keyword trace.etl
///     etw etl events --format csv --columns time,file,id --limit 1000 folder
///     etw etl events --format json trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Print these columns of text and CSV, in this order.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "COLUMN,…")]
    columns: Vec<Column>,
    /// In which order. For that of time the whole file is read into memory.
    #[arg(long, value_enum, default_value_t = Order::File)]
    order: Order,
    /// Print the payload too.
    #[arg(long, value_enum)]
    payload: Option<Payload>,
    /// Stop at the first finding, with exit status 1.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    wanted: Wanted,
    /// Print so many events of all files together, and stop. Findings that would come later are not told.
    #[arg(long, value_name = "N", help_heading = "Which events")]
    limit: Option<u64>,
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

/// The events of one file after the other.
pub struct Events<'a> {
    args: &'a Args,
    columns: Vec<Column>,
    has_payload: bool,
    /// How many may still be printed.
    left: u64,
    is_headed: bool,
}

impl<'a> Events<'a> {
    pub fn new(args: &'a Args) -> Self {
        let columns = columns::chosen(&args.columns, args.payload.is_some());
        let has_payload = columns.contains(&Column::Payload);
        Self { args, columns, has_payload, left: args.limit.unwrap_or(u64::MAX), is_headed: false }
    }

    /// Whether as many were printed as were asked for.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    pub fn file(&mut self, source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
        let (name, progress) = (source.name, source.progress.clone());
        if out.is_terminal {
            progress.hide();
        }
        let order = self.args.order;
        let lines = |log: &LogFile| {
            let (clock, filter) = (log.to_clock(), self.args.wanted.filter(log));
            Lines { events: self, name, clock, filter, out, progress, tally: Tally::default() }
        };
        match order {
            Order::File => in_file(source, lines),
            Order::Time => in_time(source, lines),
        }
    }
}

fn in_file<'a, 'b: 'a>(source: Opened<'_>, lines: impl FnOnce(&LogFile) -> Lines<'a, 'b>) -> Result<Outcome, Stop> {
    let mut buffers = source.reader()?;
    let mut lines = lines(buffers.log_file());
    lines.head()?;
    while let Some(buffer) = buffers.next()? {
        match buffer {
            Ok(image) => {
                let origin = Origin::of(image.buffer());
                for event in image.events() {
                    match event {
                        Ok(event) => lines.event(&event, origin)?,
                        Err(finding) => lines.finding(&finding)?,
                    }
                    if lines.events.is_done() {
                        return Ok(lines.end());
                    }
                }
            }
            Err(finding) => lines.finding(&finding)?,
        }
    }
    Ok(lines.end())
}

fn in_time<'a, 'b: 'a>(source: Opened<'_>, lines: impl FnOnce(&LogFile) -> Lines<'a, 'b>) -> Result<Outcome, Stop> {
    let bytes = source.bytes()?;
    let trace = Trace::new(&bytes).map_err(|error| Stop::Input(error.to_string()))?;
    let mut lines = lines(trace.log_file());
    lines.head()?;
    let mut events = trace.by_time();
    while let Some(event) = events.next_event() {
        match event {
            Ok(timed) => {
                let origin = Origin { buffer: timed.buffer, offset: timed.buffer_offset, processor: timed.processor };
                lines.event(&timed.event, origin)?;
            }
            Err(finding) => lines.finding(&finding)?,
        }
        if lines.events.is_done() {
            break;
        }
    }
    Ok(lines.end())
}

/// The lines of one file.
struct Lines<'a, 'b> {
    events: &'a mut Events<'b>,
    name: &'a str,
    clock: Clock,
    filter: Filter,
    out: &'a mut Output,
    progress: Rc<Progress>,
    tally: Tally,
}

impl Lines<'_, '_> {
    /// Names the columns, once for all files.
    fn head(&mut self) -> io::Result<()> {
        if self.out.format != Format::Json && !std::mem::replace(&mut self.events.is_headed, true) {
            let heading = columns::heading(&self.events.columns, self.out.format == Format::Text);
            self.out.write_all(heading.as_bytes())?;
        }
        Ok(())
    }

    /// Tells of a finding.
    fn finding(&mut self, finding: &Finding) -> Result<(), Stop> {
        if let Some(told) = self.tally.add(Some(self.name), finding) {
            self.progress.beside(|| self.out.aside(&told));
        }
        if self.events.args.strict { Err(Stop::Strict) } else { Ok(()) }
    }

    /// Tells of findings that were only counted.
    fn end(&self) -> Outcome {
        for told in self.tally.more(Some(self.name)) {
            self.progress.beside(|| self.out.aside(&told));
        }
        self.tally.outcome()
    }

    fn event(&mut self, event: &Event<'_>, origin: Origin) -> io::Result<()> {
        if self.events.is_done() || !self.filter.takes(event, origin.processor, &self.clock) {
            return Ok(());
        }
        self.events.left -= 1;
        let line = Line::new(self.name, event, origin, &self.clock, self.events.has_payload);
        match self.out.format {
            Format::Json => {
                serde_json::to_writer(&mut *self.out, &line)?;
                self.out.write_all(b"\n")
            }
            format => self.out.write_all(columns::event(&self.events.columns, format == Format::Text, &line).as_bytes()),
        }
    }
}
