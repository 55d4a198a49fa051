//! `events`.

use super::columns::DEFAULT;
use super::input::{Files, Opened};
use super::line::{Line, Name, Origin};
use super::output::Output;
use super::printer::{Asked, Printer};
use super::progress::Progress;
use super::stop::Stop;
use super::tally::Tally;
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
    /// In which order. For that of time the whole file is read into memory.
    #[arg(long, value_enum, default_value_t = Order::File)]
    order: Order,
    /// Stop at the first finding, with exit status 1.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    pub(crate) asked: Asked,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Order {
    File,
    Time,
}

/// The events of one file after the other.
pub struct Events<'a> {
    order: Order,
    is_strict: bool,
    printer: Printer<'a>,
}

impl<'a> Events<'a> {
    pub fn new(args: &'a Args) -> Self {
        Self { order: args.order, is_strict: args.strict, printer: Printer::new(&args.asked, &DEFAULT) }
    }

    /// Whether as many were printed as were asked for.
    pub fn is_done(&self) -> bool {
        self.printer.is_done()
    }

    /// Tells what only all files together tell.
    pub fn end(&self, out: &Output) {
        self.printer.end(out);
    }

    pub fn file(&mut self, source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
        let (name, progress) = (source.name, source.progress.clone());
        if out.is_terminal {
            progress.hide();
        }
        let order = self.order;
        let lines = |log: &LogFile| {
            let (clock, filter) = (log.to_clock(), self.printer.wanted.filter(log.start_time));
            Lines { events: self, name, file: Name::of(name), clock, filter, out, progress, tally: Tally::default() }
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
    lines.events.printer.head(lines.out)?;
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
    lines.events.printer.head(lines.out)?;
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
    file: Name,
    clock: Clock,
    filter: Filter,
    out: &'a mut Output,
    progress: Rc<Progress>,
    tally: Tally,
}

impl Lines<'_, '_> {
    /// Tells of a finding.
    fn finding(&mut self, finding: &Finding) -> Result<(), Stop> {
        if let Some(told) = self.tally.add(Some(self.name), finding) {
            self.progress.beside(|| self.out.aside(&told));
        }
        if self.events.is_strict && finding.is_damage() { Err(Stop::Strict) } else { Ok(()) }
    }

    /// Tells of findings that were only counted.
    fn end(&self) -> Outcome {
        for told in self.tally.more(Some(self.name)) {
            self.progress.beside(|| self.out.aside(&told));
        }
        self.tally.outcome()
    }

    fn event(&mut self, event: &Event<'_>, origin: Origin) -> Result<(), Stop> {
        let printer = &mut self.events.printer;
        printer.seen += 1;
        if !self.filter.takes(event, origin.processor, &self.clock) {
            return Ok(());
        }
        let time = event.time_stamp().map(|stamp| self.clock.system_time(stamp));
        let line = Line::new(&self.file, event, origin, time, printer.payload);
        match printer.event(&line, self.out)? {
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
