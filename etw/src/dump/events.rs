//! `events`.

use super::{Content, DumpDiagnostic, Files, diagnostics};
use crate::etl::messages;
use crate::etl::symbols::PdbSearch;
use crate::output::column::{Column, DEFAULT};
use crate::output::kind::LineKinds;
use crate::output::line::{self, Line, Name, Origin, Payload};
use crate::output::printer::{PrintOptions, Printer};
use crate::output::stop::Stop;
use crate::output::{Output, Several};
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_dump::{Diagnostic, DiagnosticKind, DumpSession, TimedEvent, by_time};
use etw_layouts_etl::{Clock, ClockType, HeaderType, Schemas, names};
use etw_layouts_trace::{ProcessTable, Processes, ThreadTable, Threads, WppSources, who};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Print the events of the sessions in crash dumps in order of time, one per line. Exit with status 1 if there are
/// diagnostics.
///
/// The first line names the columns: those of `etw etl events` and the session name. Select columns with --columns;
/// JSON always contains all columns. Relative times of --from and --to count from the start of the event's session.
/// With --from or --to, events without a time are left out; with relative times, so are events of a session with an
/// unknown start. The number of these events and the diagnostics are printed to standard error. To write a trace file of each session, use
/// `etw dump save`. The formats of WPP messages are found in the PDBs that the events name, along --symbol-path or _NT_SYMBOL_PATH.
///
///     etw dump events minidump.dmp
///     etw dump events --session EventLog-System --format json minidump.dmp
///     etw dump events --level 1 --level 2 --columns time,session,provider,id --payload fields MEMORY.DMP
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    asked: PrintOptions,
    /// Match sessions with this name, ignoring case. Repeatable.
    #[arg(long, value_name = "NAME", help_heading = "Event selection")]
    session: Vec<String>,
}

/// Events of one dump after another.
pub struct Events<'a> {
    args: &'a Args,
    printer: Printer<'a>,
    /// Where messages of WPP are found.
    pdbs: Option<PdbSearch>,
    /// Requested session names not found in any dump so far.
    absent: Vec<&'a str>,
    /// Whether one dump is read.
    pub is_single: bool,
}

/// The processes and threads that the events of a dump state. All sessions are of one kernel, so what one of them states is true for all; events are
/// numbered in the order of time, because sessions have different clocks.
fn known(events: &[(usize, TimedEvent<'_>)], schemas: &Schemas) -> (ProcessTable, ThreadTable) {
    let (mut processes, mut threads) = (Processes::default(), Threads::default());
    for ((_, timed), at) in events.iter().zip(0..) {
        processes.add(&timed.event, at);
        threads.add(&timed.event, at);
    }
    let clock = Clock::new(ClockType::SystemTime, 0, 0, 0, 0);
    (processes.finish(schemas, &clock), threads.finish(schemas))
}

impl<'a> Events<'a> {
    pub fn new(args: &'a Args, out: &Output) -> Result<Self, Error> {
        args.asked.wanted.load(out)?;
        let absent = args.session.iter().map(String::as_str).collect();
        let default = [&DEFAULT[..], &[Column::Session]].concat();
        let pdbs = PdbSearch::new(args.files.kernel.symbol_path.as_deref())?;
        Ok(Self { args, printer: Printer::new(&args.asked, &default), pdbs, absent, is_single: false })
    }

    /// Whether the limit is reached.
    pub fn is_done(&self) -> bool {
        self.printer.is_done()
    }

    /// Reports results that need all dumps.
    pub fn end(&self, out: &Output) -> Result<(), Error> {
        match self.absent.as_slice() {
            absent @ [_, ..] if !self.is_done() => {
                Err(format!("session not found in any dump: {}; list the sessions with `etw dump sessions`", listed(absent))
                    .into())
            }
            _ => {
                self.printer.end(out);
                Ok(())
            }
        }
    }

    pub fn dump(&mut self, content: &Content<'_>, out: &mut Output) -> Result<Outcome, Stop> {
        self.look_up(content, out);
        let Self { args, printer, pdbs, .. } = self;
        let mut diagnostics = content.diagnostics.clone();
        let (events, found) = by_time(&content.sessions);
        diagnostics.extend(found.into_iter().map(DumpDiagnostic::Dump));
        let file = Name::new(content.name);
        // All sessions have the producer of the dump.
        let producer = content.sessions.first().map(|session| session.producer);
        let mut schemas = producer
            .map_or_else(|| printer.layout.wanted.schemas.of_any(), |producer| printer.layout.wanted.schemas.of_dump(producer));
        let (mut known_messages, mut sources) = (printer.layout.wanted.schemas.messages(), WppSources::default());
        events.iter().for_each(|(_, timed)| sources.add(&timed.event));
        if let Some(search) = pdbs.as_mut().filter(|_| !sources.guids().is_empty())
            && let Some(found) = messages::find(search, &sources, Arc::make_mut(&mut known_messages), out)
        {
            // The library was built in this process, so it can be read.
            schemas = schemas.clone().with_library(found).unwrap_or(schemas);
        }
        let sessions: Vec<_> = content
            .sessions
            .iter()
            .map(|session| {
                let is_wanted = args.session.is_empty() || args.session.iter().any(|name| is_called(session, name));
                let filter = is_wanted.then(|| printer.layout.wanted.filter(session.start_time, &schemas));
                (session, Name::new(session.name()), filter, session.to_clock())
            })
            .collect();
        // Events that match the other options, but cannot be compared with the time range.
        let (mut without_time, mut without_start) = (0, vec![0; sessions.len()]);
        let is_decoded = matches!(printer.layout.payload, Some(Payload::Fields | Payload::Message));
        let mut without_format = 0;
        let at_any_time = printer.layout.wanted.at_any_time(&schemas);
        if sessions.iter().any(|(_, _, filter, _)| filter.is_some()) {
            printer.head(out)?;
        }
        let (processes, threads) = known(&events, &schemas);
        let (mut names, mut kinds) = (line::Names::default(), LineKinds::default());
        for ((number, timed), at) in events.iter().zip(0..) {
            printer.seen += 1;
            let Some((session, name, Some(filter), clock)) = sessions.get(*number) else { continue };
            let left_out = match timed.time {
                None if printer.layout.wanted.asks_for_times() => Some(&mut without_time),
                Some(_) if session.start_time == 0 && printer.layout.wanted.asks_since_start() => without_start.get_mut(*number),
                _ => None,
            };
            if let Some(left_out) = left_out {
                *left_out += u64::from(at_any_time.matches(&timed.event, timed.processor, clock));
                continue;
            }
            if !filter.matches_without_ids(&timed.event, timed.processor, clock) {
                continue;
            }
            let who = who(&timed.event, &schemas, &processes, &threads, at);
            if filter.asks_who() && !who.matches(filter, &timed.event) {
                continue;
            }
            if printer.is_done() {
                break;
            }
            let buffer = session.buffers.get(timed.buffer as usize);
            let offset = buffer.map_or(0, |buffer| buffer.offset);
            let origin = Origin { buffer: timed.buffer, offset, processor: timed.processor };
            let buffer_address = buffer.and_then(|buffer| buffer.address).map(|address| address.0);
            let log = Some(&session.log_file);
            let session = line::EventSession { name, logger_id: session.logger_id, buffer_address };
            let line = Line::new(&file, &timed.event, &schemas, origin, timed.time, printer.layout.payload);
            let message = known_messages.of(&timed.event);
            without_format += u64::from(is_decoded && message.is_none() && timed.event.header_type() == HeaderType::Message);
            let (who, processes) = (Some(who), Some(&processes));
            let line = Line { session: Some(session), log, message, who, processes, ..line };
            let fault = printer.event(&line, &mut names, &mut kinds, out)?;
            diagnostics.extend(fault.map(|fault| {
                let offset = buffer.map_or(0, |buffer| buffer.place(timed.event.offset()));
                let kind = DiagnosticKind::Event(names::undecoded(&timed.event, &schemas, fault));
                DumpDiagnostic::Dump(Diagnostic { offset, kind })
            }));
        }
        let note = |note: String| out.note(content.name, &note);
        if without_time > 0 {
            note(format!("{} without time: --from and --to leave them out", Several(without_time, "event")));
        }
        if without_format > 0 {
            note(messages::without_format(without_format, [&sources]));
        }
        for ((session, ..), left_out) in sessions.iter().zip(without_start).filter(|(_, left_out)| *left_out > 0) {
            let (name, events) = (session.name(), Several(left_out, "event"));
            note(format!(
                "{events} of session {name} left out: session start unknown, so relative times do not apply; give absolute times"
            ));
        }
        diagnostics::aside(content.name, &diagnostics, out);
        Ok(diagnostics::outcome(&diagnostics))
    }

    /// Reports the requested sessions that a dump does not have, and the sessions that it has.
    fn look_up(&mut self, content: &Content<'_>, out: &Output) {
        let has = |name: &str| content.sessions.iter().any(|session| is_called(session, name));
        self.absent.retain(|name| !has(name));
        let absent: Vec<_> = self.args.session.iter().map(String::as_str).filter(|name| !has(name)).collect();
        // With one dump, the error of `end` is enough.
        if !absent.is_empty() && !self.is_single {
            let names: BTreeSet<_> = content.sessions.iter().map(DumpSession::name).collect();
            let there = match names.is_empty() {
                true => "the dump has no sessions".to_owned(),
                false => format!("available sessions: {}", listed(&names.into_iter().collect::<Vec<_>>())),
            };
            out.note(content.name, &format!("session not found: {}; {there}", listed(&absent)));
        }
    }
}

/// Whether a session has this name; StartTrace ignores case too.
fn is_called(session: &DumpSession<'_>, name: &str) -> bool {
    session.name().to_lowercase() == name.to_lowercase()
}

fn listed(names: &[&str]) -> String {
    names.join(", ")
}
