//! `events`.

use super::{Content, Files, Wrong, tally};
use crate::etl::columns::Column;
use crate::etl::line::{self, Line, Name, Origin};
use crate::etl::output::Output;
use crate::etl::printer::{Asked, Printer};
use crate::etl::stop::Stop;
use etw_layouts_cli::Outcome;
use etw_layouts_dump::{Finding, What, by_time};
use etw_layouts_etl as etl;

/// Print the events of the sessions in crash dumps in the order of time, a line each. Exit status 1 if there are findings.
///
/// The first line names the columns. They are those of `etw etl events`, with the name of the session; --columns chooses others;
/// json has all of them. Seconds of --from and --to count from the start of the event's session. Findings go to the standard error.
/// `etw dump save` makes a trace file of each session.
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
    asked: Asked,
    /// Of the sessions of this name. Repeatable.
    #[arg(long, value_name = "NAME", help_heading = "Which events")]
    session: Vec<String>,
}

/// What is printed if nothing else is asked for.
const DEFAULT: [Column; 11] = [
    Column::Time,
    Column::Cpu,
    Column::Thread,
    Column::Process,
    Column::Header,
    Column::Provider,
    Column::Version,
    Column::Opcode,
    Column::Bytes,
    Column::Id,
    Column::Session,
];

/// The events of one dump after the other.
pub struct Events<'a> {
    args: &'a Args,
    printer: Printer<'a>,
}

impl<'a> Events<'a> {
    pub fn new(args: &'a Args) -> Self {
        Self { args, printer: Printer::new(&args.asked, &DEFAULT) }
    }

    /// Whether as many were printed as were asked for.
    pub fn is_done(&self) -> bool {
        self.printer.is_done()
    }

    pub fn dump(&mut self, content: &Content<'_>, out: &mut Output) -> Result<Outcome, Stop> {
        let Self { args, printer } = self;
        let mut findings = content.findings.clone();
        let (events, found) = by_time(&content.sessions);
        findings.extend(found.into_iter().map(Wrong::Dump));
        let file = Name::of(content.name);
        let sessions: Vec<_> = content
            .sessions
            .iter()
            .map(|session| {
                let is_wanted = args.session.is_empty() || args.session.contains(&session.name);
                let filter = is_wanted.then(|| printer.wanted.filter(session.start_time));
                (session, Name::of(&session.name), filter, session.to_clock())
            })
            .collect();
        printer.head(out)?;
        for (number, timed) in &events {
            let Some((session, name, Some(filter), clock)) = sessions.get(*number) else { continue };
            let is_lost = timed.time.is_none() && printer.wanted.asks_for_times();
            if is_lost || !filter.takes(&timed.event, timed.processor, clock) {
                continue;
            }
            if printer.is_done() {
                break;
            }
            let buffer = session.buffers.get(timed.buffer as usize);
            let offset = buffer.map_or(0, |buffer| buffer.offset);
            let origin = Origin { buffer: timed.buffer, offset, processor: timed.processor };
            let buffer_address = buffer.and_then(|buffer| buffer.address).map(|address| address.0);
            let session = line::Session { name, logger_id: session.logger_id, buffer_address };
            let line = Line::new(&file, &timed.event, origin, timed.time, printer.payload);
            let fault = printer.event(&Line { session: Some(session), ..line }, out)?;
            findings.extend(fault.map(|fault| {
                let offset = buffer.map_or(0, |buffer| buffer.place(timed.event.offset()));
                Wrong::Dump(Finding { offset, what: What::Event(etl::What::Fields(fault)) })
            }));
        }
        tally::aside(content.name, &findings, out);
        Ok(tally::outcome(&findings))
    }
}
