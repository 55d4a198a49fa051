//! The interface for other front ends, such as the Python package: options that select events, events as JSON, and the output of
//! commands as text.

use crate::input::{Opened, kind};
use crate::output::line::{Line, Name, Origin, Payload};
use crate::output::stop::Stop;
use crate::output::tally::Tally;
use crate::output::{Format, Output, document};
use crate::program::{self, Cli};
use crate::selection::Wanted;
use crate::{Error, carried, dump, etl};
use clap::{CommandFactory, Parser};
use etw_layouts_etl::{Clock, Decoded, Diagnostic, Event, EventRecord, Filter, LogFile, Schemas};
use etw_layouts_schemas::trace::Collected;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::sync::Arc;

/// The output of a command: lines of JSON.
#[derive(Debug)]
pub struct Kept {
    /// The lines for standard output.
    pub lines: String,
    /// The lines for standard error: diagnostics, notes and errors.
    pub asides: String,
}

/// The output of `etw etl info --format json`.
///
/// # Errors
///
/// The source is not a trace file.
pub fn info(name: &str, source: impl Read + 'static) -> Result<Kept, Error> {
    kept(|out| etl::info(Opened::of(name, source), out).map(drop).map_err(refused))
}

/// Writes the lines of `etw dump … --format json` to a receiver, and returns those for standard error. `args` are the words after `dump`.
///
/// # Errors
///
/// The arguments are invalid, a dump cannot be read, or the receiver fails.
pub fn dump(args: &[OsString], receiver: Box<dyn Write>) -> Result<String, Error> {
    let words = ["etw", "dump"].map(OsString::from).into_iter().chain(args.iter().cloned());
    let cli = Cli::try_parse_from(words.chain(["--format", "json"].map(OsString::from))).map_err(|error| invalid(&error))?;
    let program::Command::Dump(command) = &cli.command else { return Err("no command on dumps".into()) };
    let mut out = Output::to(receiver, Format::Json);
    let result = dump::run_on(command, &mut out);
    let (_, asides) = out.into_kept();
    match result {
        // The last line for standard error has the reason, unless the receiver failed.
        Err(error) => Err(asides.lines().last().map_or_else(|| error.to_string(), reason).into()),
        Ok(_) => Ok(asides),
    }
}

fn kept(run: impl FnOnce(&mut Output) -> Result<(), Error>) -> Result<Kept, Error> {
    let mut out = Output::kept(Format::Json);
    run(&mut out)?;
    let (lines, asides) = out.into_kept();
    Ok(Kept { lines, asides })
}

/// The error in a line of JSON.
fn reason(line: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(line).ok();
    let text = |key: &str| value.as_ref()?.get(key)?.as_str().map(str::to_owned);
    text("error").map_or_else(|| line.to_owned(), |error| text("file").map_or(error.clone(), |file| format!("{file}: {error}")))
}

fn refused(stop: Stop) -> Error {
    match stop {
        Stop::Input(why) => why.into(),
        Stop::Output(error) => error.into(),
        Stop::Strict => "stopped at the first diagnostic".into(),
    }
}

/// The first line of a command-line error.
fn invalid(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned().into()
}

/// Why bytes that begin like this are not a trace file; `None` if they can be one.
pub fn no_trace(head: &[u8]) -> Option<String> {
    kind::no_trace(head)
}

/// The number of bytes from which [`no_trace`] decides.
pub const HEAD: u64 = kind::HEAD;

/// Options that select events and name schemas, as of `etw etl events`.
#[derive(Debug, Parser)]
#[command(name = "etw")]
pub struct Selection {
    #[command(flatten)]
    wanted: Wanted,
}

impl Selection {
    /// Reads options: names without `--`, each with its value. Reads the files of schemas that they name.
    ///
    /// # Errors
    ///
    /// A name is unknown, a value is invalid, or a file of schemas cannot be read.
    pub fn new<'o>(options: impl IntoIterator<Item = (&'o str, &'o str)>) -> Result<Self, Error> {
        let command = Self::command();
        let known: Vec<_> =
            command.get_arguments().filter_map(|argument| argument.get_long()).filter(|name| *name != "help").collect();
        let mut words = vec!["etw".to_owned()];
        for (name, value) in options {
            if !known.contains(&name) {
                return Err(format!("unknown option `{name}`; known options: {}", known.join(", ")).into());
            }
            words.push(format!("--{name}={value}"));
        }
        let selection = Self::try_parse_from(words).map_err(|error| invalid(&error))?;
        selection.wanted.check()?;
        selection.wanted.schemas.load(&Output::new(Format::Text))?;
        Ok(selection)
    }

    /// The schemas for the events of a trace; `own` is a library of schemas that the trace contains.
    pub fn schemas(&self, log: &LogFile, own: Option<Arc<[u8]>>) -> Schemas {
        self.wanted.schemas.of_trace(log, own)
    }

    /// The filter for a trace; its start is needed for relative times.
    pub fn filter(&self, start: i64, schemas: &Schemas) -> Filter {
        self.wanted.filter(start, schemas)
    }

    /// A hint for names that matched no event; empty if all names are known.
    pub fn hint(&self) -> String {
        self.wanted.on_names().map(|hint| format!("; {hint}")).unwrap_or_default()
    }

    /// How [`Self::json`] decodes the fields of an event.
    pub fn fields<'a>(&self, event: &Event<'a>, schemas: &'a Schemas) -> EventFields<'a> {
        if LogFile::read(event).is_some() {
            return EventFields::LogFile;
        }
        match self.wanted.schemas.messages().and_then(|messages| messages.of(event)) {
            Some(_) => EventFields::None,
            None => event.decode(schemas).map_or(EventFields::None, EventFields::Decoded),
        }
    }

    /// An event as in a line of `etw etl events --payload fields --format json`, without the process of the thread in its payload.
    pub fn json(&self, file: &str, record: &EventRecord<'_>, schemas: &Schemas, clock: Clock) -> String {
        let (event, file) = (record.event(), Name::of(file));
        let origin = Origin { buffer: record.buffer(), offset: record.buffer_offset(), processor: record.processor() };
        let line = Line {
            clock: Some(clock),
            message: self.wanted.schemas.messages().and_then(|messages| messages.of(&event)),
            ..Line::new(&file, &event, schemas, origin, record.time().map(|time| time.0), Some(Payload::Fields))
        };
        let mut json = Vec::new();
        document::single(&line, &mut json);
        String::from_utf8_lossy(&json).into_owned()
    }
}

/// How the fields of an event are decoded.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would need an allocation for each event")]
pub enum EventFields<'a> {
    /// By a schema.
    Decoded(Decoded<'a>),
    /// By the layout of the log file header: only [`Selection::json`] has them.
    LogFile,
    /// Not decoded: there is no schema, the schema cannot be read, or it is a message whose arguments have no names.
    None,
}

/// A library of the schemas in a trace; `None` if it has none. The lines of JSON report unusable schemas.
pub fn library(name: &str, collected: Collected) -> (Option<Arc<[u8]>>, String) {
    let out = Output::kept(Format::Json);
    let library = carried::library(&[name], collected, &out);
    (library, out.into_kept().1)
}

/// Counts the diagnostics of a file, and keeps the first hundred of each kind.
#[derive(Default)]
pub struct Diagnostics {
    tally: Tally,
    lines: String,
}

impl Diagnostics {
    /// Adds a diagnostic.
    pub fn add(&mut self, diagnostic: &Diagnostic) {
        if let Some(line) = self.tally.add(None, diagnostic) {
            self.lines += &crate::compact(&line).unwrap_or_default();
        }
    }

    /// Lines of JSON: the diagnostics, as in the output of `etw etl info --format json`, and the counts of those that are not kept.
    pub fn lines(&self) -> String {
        let more: String = self.tally.more(None).iter().map(|line| crate::compact(line).unwrap_or_default()).collect();
        self.lines.clone() + &more
    }

    /// The number of diagnostics.
    pub fn total(&self) -> u64 {
        self.tally.total()
    }

    /// Whether a diagnostic reports corruption.
    pub fn are_damage(&self) -> bool {
        self.tally.outcome() == crate::Outcome::Differs
    }
}
