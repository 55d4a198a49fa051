//! `events`.

use crate::carried::Carried;
use crate::input::{Files, Opened};
use crate::output::columns::{Column, DEFAULT};
use crate::output::file_progress::FileProgress;
use crate::output::kind::LineKinds;
use crate::output::line::{Line, Name, Origin};
use crate::output::printer::{Asked, Printer};
use crate::output::stop::Stop;
use crate::output::tally::Tally;
use crate::output::{Escaped, Output, Several};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::threads::Threads;
use etw_layouts_etl::{Clock, Diagnostic, Event, Filter, LogFile, Schemas, names};
use serde::Serialize;
use std::fmt::{self, Display};
use std::rc::Rc;
use std::sync::Arc;

/// Print the events of trace files, one per line. Exit with status 1 if there are diagnostics.
///
/// The first line names the columns. Default columns in text: time (UTC), processor, process, thread, event,
/// version and payload_size; with several files also file. The column `event` has a name such as Process/Start. For
/// an event without a known name, it has the provider and the event ID, such as
/// 22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716/8. Default columns in CSV: time_utc, processor, process, thread, header,
/// provider, provider_name, id, id_name, opcode, opcode_name, event, version and payload_size. Select columns with
/// --columns; JSON always contains all columns. Diagnostics are printed to standard error.
///
/// With --order time, the events of all files are merged by system time. A session can write events out of
/// order. Sorting looks ahead four buffers per processor; an event that is further out of order is printed at
/// its position in the file. One diagnostic reports the number of such events and the largest delay.
///
///     etw etl events trace.etl
///     etw etl events --order time --payload hex trace.etl
///     etw etl events --order time folder
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
    /// Order of the events.
    #[arg(long, value_enum, default_value_t = Order::File)]
    pub(crate) order: Order,
    /// Stop at the first diagnostic and exit with status 1.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    pub(crate) asked: Asked,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Order in the file, buffer by buffer; one file after another.
    File,
    /// By time, merged over all processors and files. Files are read into memory; several files can have up to 4 GiB together.
    Time,
}

/// The events of all files.
pub struct Events<'a> {
    is_strict: bool,
    pub printer: Printer<'a>,
}

impl<'a> Events<'a> {
    /// State for the events of one or several files.
    pub fn new(args: &'a Args, are_several: bool) -> Self {
        let file = are_several.then_some(Column::File);
        let columns: Vec<_> = DEFAULT.into_iter().chain(file).collect();
        Self { is_strict: args.strict, printer: Printer::new(&args.asked, &columns) }
    }

    /// Whether the limit is reached.
    pub fn is_done(&self) -> bool {
        self.printer.is_done()
    }

    /// Reports results that need all files.
    pub fn end(&self, out: &Output) {
        self.printer.end(out);
    }

    /// Prints the events of a file in file order.
    pub fn file(&mut self, source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
        let (name, progress) = (source.name, source.progress.clone());
        let mut carried = Carried::of_file(name, source.path, out);
        let mut buffers = source.reader()?;
        let mut part = Part::new(name, progress, buffers.log_file(), carried.library.clone(), self, out);
        self.printer.head(out)?;
        while let Some(buffer) = buffers.next()? {
            match buffer {
                Ok(decoded) => {
                    let origin = Origin::of(decoded.buffer());
                    for event in decoded.events() {
                        match event {
                            Ok(event) => {
                                carried.see(&event);
                                part.event(&event, origin, self, out).map(drop)?;
                            }
                            Err(diagnostic) => part.diagnostic(&diagnostic, self, out)?,
                        }
                        if self.is_done() {
                            carried.end(out);
                            return Ok(part.end(out));
                        }
                    }
                }
                Err(diagnostic) => part.diagnostic(&diagnostic, self, out)?,
            }
        }
        carried.end(out);
        Ok(part.end(out))
    }
}

/// State for one file.
pub struct Part<'n> {
    name: &'n str,
    file: Name,
    pub clock: Clock,
    filter: Filter,
    schemas: Schemas,
    progress: Rc<FileProgress>,
    tally: Tally,
    threads: Threads,
    kinds: LineKinds,
    /// The number of events printed after a later event, and the largest delay in units of 100 ns.
    late: (u64, u64),
}

impl<'n> Part<'n> {
    /// The state at the start of a file; `own` are the schemas that it carries.
    pub fn new(
        name: &'n str,
        progress: Rc<FileProgress>,
        log: &LogFile,
        own: Option<Arc<[u8]>>,
        events: &Events<'_>,
        out: &Output,
    ) -> Self {
        if out.is_terminal {
            progress.hide();
        }
        let schemas = events.printer.wanted.schemas.of_trace(log, own);
        let (clock, filter) = (log.to_clock(), events.printer.wanted.filter(log.start_time, &schemas));
        Self {
            name,
            file: Name::of(name),
            clock,
            filter,
            schemas,
            progress,
            tally: Tally::default(),
            threads: Threads::default(),
            kinds: LineKinds::default(),
            late: (0, 0),
        }
    }

    /// Reports a diagnostic.
    pub fn diagnostic(&mut self, diagnostic: &Diagnostic, events: &Events<'_>, out: &Output) -> Result<(), Stop> {
        if let Some(line) = self.tally.add(Some(self.name), diagnostic) {
            self.progress.beside(|| out.aside(&line));
        }
        if events.is_strict && diagnostic.is_damage() { Err(Stop::Strict) } else { Ok(()) }
    }

    /// Prints an event if it matches. Returns its time if it was printed and has one.
    pub fn event(
        &mut self,
        event: &Event<'_>,
        origin: Origin,
        events: &mut Events<'_>,
        out: &mut Output,
    ) -> Result<Option<i64>, Stop> {
        if let Some(kind) = event.fault() {
            self.diagnostic(&origin.diagnostic(event, kind), events, out)?;
        }
        let printer = &mut events.printer;
        printer.seen += 1;
        self.threads.add(event);
        if !self.filter.takes(event, origin.processor, &self.clock) {
            return Ok(None);
        }
        let time = event.time_stamp().map(|stamp| self.clock.system_time(stamp));
        let line = Line {
            clock: Some(self.clock),
            threads: Some(&self.threads),
            message: printer.wanted.schemas.messages().and_then(|messages| messages.of(event)),
            ..Line::new(&self.file, event, &self.schemas, origin, time, printer.payload)
        };
        if let Some(fault) = printer.event(&line, &mut self.kinds, out)? {
            self.diagnostic(&origin.diagnostic(event, names::undecoded(event, &self.schemas, fault)), events, out)?;
        }
        Ok(time)
    }

    /// Counts an event that was printed after a later event.
    pub fn late(&mut self, by: u64, events: &Events<'_>, out: &Output) -> Result<(), Stop> {
        self.late = (self.late.0 + 1, self.late.1.max(by));
        if !events.is_strict {
            return Ok(());
        }
        self.report_late(out);
        Err(Stop::Strict)
    }

    /// Reports the counts.
    pub fn end(&self, out: &Output) -> Outcome {
        for line in self.tally.more(Some(self.name)) {
            self.progress.beside(|| out.aside(&line));
        }
        self.report_late(out);
        if self.late.0 > 0 { Outcome::Differs } else { self.tally.outcome() }
    }

    fn report_late(&self, out: &Output) {
        let (late_events, latest_by) = self.late;
        if late_events > 0 {
            self.progress.beside(|| out.aside(&Late { file: self.name, kind: "time-order", late_events, latest_by }));
        }
    }
}

/// The diagnostic for events of a file that were printed out of order.
#[derive(Serialize)]
struct Late<'a> {
    file: &'a str,
    kind: &'static str,
    late_events: u64,
    /// In units of 100 ns.
    latest_by: u64,
}

impl Display for Late<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, count, by) = (Escaped(self.file), Several(self.late_events, "event"), self.latest_by);
        let (seconds, fraction) = (by / 10_000_000, by % 10_000_000);
        write!(
            f,
            "{file}: {count} out of order by up to {seconds}.{fraction:07} seconds: sorting looks ahead only four buffers per \
             processor"
        )
    }
}
