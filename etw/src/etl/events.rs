//! `events`.

use super::columns::{self, Column};
use super::document;
use super::input::{Files, Opened};
use super::line::{self, Line, Names, Origin, Payload};
use super::output::{Escaped, Format, Output};
use super::progress::Progress;
use super::stop::Stop;
use super::tally::Tally;
use super::wanted::Wanted;
use etw_layouts_cli::Outcome;
use etw_layouts_etl::{Clock, Event, Filter, Finding, LogFile, Trace, What};
use std::rc::Rc;

/// Print the events of trace files, a line each. Exit status 1 if there are findings.
///
/// The first line names the columns. A line has the time (UTC), processor, thread and process; the header's type; the provider,
/// or the group of a kernel event; version and opcode; the bytes of the payload; and the id, of a kernel event the name of
/// its hook identifier. --columns chooses others; json has all of them. Findings go to the standard error.
///
///     etw etl events trace.etl
///     etw etl events --order time --payload hex trace.etl
///     etw etl events --payload fields trace.etl
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
    /// Print the payload too. An event of TraceLogging says itself which fields it has; what of them cannot be decoded is printed as
    /// bytes, and is a finding.
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

/// The events of one file after the other.
pub struct Events<'a> {
    args: &'a Args,
    columns: Vec<Column>,
    payload: Option<Payload>,
    names: Names,
    /// How many may still be printed.
    left: u64,
    is_headed: bool,
}

impl<'a> Events<'a> {
    pub fn new(args: &'a Args) -> Self {
        let columns = columns::chosen(&args.columns, args.payload.is_some());
        let payload = args.payload.or(columns.contains(&Column::Payload).then_some(Payload::Hex));
        let left = args.limit.unwrap_or(u64::MAX);
        Self { args, columns, payload, names: Names::default(), left, is_headed: false }
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
            let file = line::File { text: Escaped(name).to_string(), json: serde_json::Value::from(name).to_string() };
            Lines { events: self, name, file, clock, filter, out, progress, tally: Tally::default() }
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
    trace.by_time_ahead(|events| {
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
        Ok::<_, Stop>(())
    })?;
    Ok(lines.end())
}

/// The lines of one file.
struct Lines<'a, 'b> {
    events: &'a mut Events<'b>,
    name: &'a str,
    file: line::File,
    clock: Clock,
    filter: Filter,
    out: &'a mut Output,
    progress: Rc<Progress>,
    tally: Tally,
}

impl Lines<'_, '_> {
    /// Names the columns, once for all files.
    fn head(&mut self) -> Result<(), Stop> {
        if self.out.format != Format::Json && !std::mem::replace(&mut self.events.is_headed, true) {
            let is_text = self.out.format == Format::Text;
            self.out.put(|out| columns::heading(&self.events.columns, is_text, out))?;
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

    fn event(&mut self, event: &Event<'_>, origin: Origin) -> Result<(), Stop> {
        let events = &mut *self.events;
        if events.is_done() || !self.filter.takes(event, origin.processor, &self.clock) {
            return Ok(());
        }
        events.left -= 1;
        let line = Line::new(&self.file, event, origin, &self.clock, events.payload);
        let format = self.out.format;
        let fault = self.out.put(|out| match format {
            Format::Json => document::event(&line, &mut events.names, out),
            format => columns::event(&events.columns, format == Format::Text, &line, &mut events.names, out),
        })?;
        match fault {
            None => Ok(()),
            Some(fault) => self.finding(&Finding {
                buffer: origin.buffer,
                buffer_offset: origin.offset,
                offset: event.offset(),
                what: What::Fields(fault),
            }),
        }
    }
}
