//! The interface for other front ends, such as the Python package: options that select events, events as JSON, the results of commands, and the
//! output of commands on crash dumps as text.

use crate::input::{Opened, kind};
use crate::output::kind::LineKinds;
use crate::output::line::{Line, Name, Names, Payload};
use crate::output::stop::{Stop, Unread};
use crate::output::tally::{DiagnosticLine, Tally, is_of_file};
use crate::output::{Format, Interrupt, Output, document};
use crate::program::{self, Cli};
use crate::schemas::SchemaOptions;
use crate::selection::Wanted;
use crate::{Error, Outcome, dump, etl};
use clap::{CommandFactory, Parser};
use etw_layouts_dump::Source;
use etw_layouts_etl::{Decoded, Diagnostic, Event, Filter, LogFile, Schemas};
#[cfg(feature = "table")]
use etw_layouts_table::{Batch, Part};
use etw_layouts_trace::{self as trace, Trace};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::iter;
#[cfg(feature = "table")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of `etw etl info`.
///
/// # Errors
///
/// The source is not a trace file.
pub fn info(name: &str, source: impl Read + 'static) -> Result<impl Serialize, Error> {
    etl::info(Opened::of(name, source), Tally::default()).map_err(refused)
}

/// The packets of a trace file in memory as a pcapng file, as `etw etl pcap` writes them, and their number.
///
/// # Errors
///
/// The bytes are not a trace file.
pub fn packets(trace: Vec<u8>) -> Result<(Vec<u8>, u64), Error> {
    etl::packets(trace).map_err(refused)
}

/// The absolute path of a trace file, as in the table of traces.
///
/// # Errors
///
/// The file does not exist, or a folder of the path cannot be read.
#[cfg(feature = "table")]
pub fn location(path: &Path) -> io::Result<String> {
    etl::location(path)
}

/// The SHA-256 of the bytes of a trace, as in the table of traces.
///
/// # Errors
///
/// The bytes cannot be read.
#[cfg(feature = "table")]
pub fn hash(bytes: impl Read) -> io::Result<String> {
    etl::hash_all(bytes)
}

/// The result of `etw etl processes --images`.
///
/// # Errors
///
/// A file cannot be read, or changed since it was opened.
pub fn processes(trace: &Trace) -> Result<Vec<impl Serialize>, trace::Error> {
    etl::processes(trace)
}

/// The result of `etw etl top WHAT --by KEYS --symbol-path PATH`; without keys, by the default ones. `filters` has the filter of each file. Returns the
/// result as a value, and its rows as a table.
///
/// # Errors
///
/// A name is unknown, the trace cannot be read, or it has no event that answers the question.
#[cfg(feature = "table")]
pub fn top(
    trace: &Trace,
    what: &str,
    by: &[String],
    symbol_path: Option<String>,
    filters: &[Filter],
) -> Result<(impl Serialize + Send + use<>, Batch), Error> {
    let answer = etl::Top::new(trace, what, by, symbol_path, filters).map_err(refused)?;
    let table = answer.table()?;
    Ok((answer, table))
}

/// Runs a command on traces or dumps: `args` are the words after `etw`. Writes the lines that it prints to a receiver, and returns those for standard
/// error as lines of JSON. `interrupt` is called with the number of bytes of each read from a trace; its error ends the command.
///
/// # Errors
///
/// The arguments are invalid, the command has no output in JSON, a file cannot be read, or the receiver fails.
pub fn command(
    args: &[OsString],
    receiver: Box<dyn Write>,
    interrupt: impl Fn(usize) -> io::Result<()> + Send + Sync + 'static,
) -> Result<String, Error> {
    let words = iter::once(OsString::from("etw")).chain(args.iter().cloned());
    let cli = Cli::try_parse_from(words).map_err(|error| invalid(&error))?;
    let mut out = Output::to(receiver, Format::Json);
    out.interrupt = Some(Interrupt(Arc::new(interrupt)));
    let result = match &cli.command {
        program::Command::Dump(command) => dump::run_on(command, &mut out),
        program::Command::Etl(command) if command.has_output() => etl::run(command, Some(&mut out)),
        _ => return Err("the command has no output for a receiver; run the program".into()),
    };
    kept(result, out)
}

/// As [`command`], for a command on dumps whose file is physical memory without the headers of a dump: `source` has the bytes by physical address,
/// and `ranges` are the addresses and sizes that it contains. The file in `args` is only a name.
///
/// # Errors
///
/// Those of [`command`]; or the memory has no kernel, or one of an unknown build.
pub fn memory<S: Source>(args: &[OsString], source: S, ranges: &[(u64, u64)], receiver: Box<dyn Write>) -> Result<String, Error> {
    let words = ["etw", "dump"].map(OsString::from).into_iter().chain(args.iter().cloned());
    let cli = Cli::try_parse_from(words).map_err(|error| invalid(&error))?;
    let program::Command::Dump(command) = &cli.command else { return Err("no command on dumps".into()) };
    let mut out = Output::to(receiver, Format::Json);
    let result = dump::run_on_memory(command, source, ranges, &mut out);
    kept(result, out)
}

/// The lines for standard error, or the error of a command.
fn kept(result: Result<Outcome, Error>, out: Output) -> Result<String, Error> {
    let asides = out.into_kept();
    match result {
        Err(error) if error.is::<Unread>() => Err(asides.lines().rev().find_map(reason).map_or(error, Error::from)),
        Err(error) => Err(error),
        Ok(_) => Ok(asides),
    }
}

/// The error in a line of JSON; `None` if it has another message.
fn reason(line: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| value.get(key)?.as_str();
    let error = text("error")?;
    Some(text("file").map_or(error.to_owned(), |file| format!("{file}: {error}")))
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

/// A selection of events, with the schemas that decode them.
#[derive(Debug, Parser)]
#[command(name = "etw")]
pub struct Selection {
    #[command(flatten)]
    wanted: Wanted,
}

impl Selection {
    /// Selects all events. Reads the schemas in paths, as the options `--manifests` and `--tmf` of `etw etl events`.
    ///
    /// # Errors
    ///
    /// A path cannot be read, or has no schemas.
    pub fn new(manifests: Vec<PathBuf>, tmf: Vec<PathBuf>) -> Result<Self, Error> {
        let mut selection = Self::parse_from(["etw"]);
        selection.wanted.schemas = SchemaOptions::new(manifests, tmf);
        selection.wanted.schemas.load(&Output::new(Format::Text))?;
        Ok(selection)
    }

    /// A selection with the same schemas, from the options of `etw etl events`: names without `--`, each with its value.
    ///
    /// # Errors
    ///
    /// A name is unknown, or a value is invalid.
    pub fn with<'o>(&self, options: impl IntoIterator<Item = (&'o str, &'o str)>) -> Result<Self, Error> {
        let command = Self::command();
        let known = command.get_arguments().filter_map(|argument| argument.get_long());
        let known: Vec<_> = known.filter(|name| !["help", "manifests", "tmf"].contains(name)).collect();
        let mut words = vec!["etw".to_owned()];
        for (name, value) in options {
            if !known.contains(&name) {
                return Err(format!("unknown option `{name}`; known options: {}", known.join(", ")).into());
            }
            words.push(format!("--{name}={value}"));
        }
        let mut selection = Self::try_parse_from(words).map_err(|error| invalid(&error))?;
        selection.wanted.check()?;
        selection.wanted.schemas = self.wanted.schemas.clone();
        Ok(selection)
    }

    /// The schemas to use after those in a trace.
    #[must_use]
    pub fn schemas(&self) -> Schemas {
        self.wanted.schemas.of_any()
    }

    /// The filter for each file of a trace.
    #[must_use]
    pub fn filters(&self, trace: &Trace) -> Vec<Filter> {
        self.wanted.filters(trace)
    }

    /// A hint for names that matched no event; empty if all names are known.
    #[must_use]
    pub fn hint(&self) -> String {
        self.wanted.on_names().map(|hint| format!("; {hint}")).unwrap_or_default()
    }

    /// How [`Self::json`] decodes the fields of an event.
    #[must_use]
    pub fn fields<'a>(&self, event: &Event<'a>, schemas: &'a Schemas) -> EventFields<'a> {
        if LogFile::read(event).is_some() {
            return EventFields::LogFile;
        }
        match self.wanted.schemas.messages().of(event) {
            Some(_) => EventFields::None,
            None => event.decode(schemas).map_or(EventFields::None, EventFields::Decoded),
        }
    }

    /// An event as in a line of `etw etl events --payload fields --format json`.
    #[must_use]
    pub fn json(&self, event: &trace::Event<'_>) -> String {
        let (file, header) = (Name::new(event.file().name()), event.header());
        let messages = self.wanted.schemas.messages();
        let line = Line::of_event(&file, event, &header, &messages, Some(Payload::Fields));
        let line = Line { who: Some(event.who()), ..line };
        let mut json = Vec::new();
        document::event(&line, &mut Names::default(), &mut LineKinds::default(), &mut json);
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

/// Counts the diagnostics of files, and keeps the first hundred of each kind and file.
#[derive(Default)]
pub struct Diagnostics {
    files: Vec<(String, Tally)>,
    /// The files that are damaged.
    damaged: BTreeSet<usize>,
    kept: Vec<(usize, Diagnostic)>,
}

impl Diagnostics {
    /// No diagnostics of files with these names yet.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self { files: names.into_iter().map(|name| (name, Tally::default())).collect(), ..Self::default() }
    }

    /// Adds a diagnostic of a file.
    pub fn add(&mut self, file: usize, diagnostic: &Diagnostic) {
        if is_of_file(diagnostic) {
            self.damaged.insert(file);
        }
        if let Some((_, tally)) = self.files.get_mut(file)
            && tally.add(None, diagnostic).is_some()
        {
            self.kept.push((file, diagnostic.clone()));
        }
    }

    /// Adds the diagnostics of a part of a trace.
    #[cfg(feature = "table")]
    pub fn add_part(&mut self, part: &Part) {
        part.diagnostics.iter().for_each(|(file, diagnostic)| self.add(*file, diagnostic));
        self.files.iter_mut().enumerate().for_each(|(file, (_, tally))| tally.add_rest(file, part));
    }

    /// The kept diagnostics, then the number of further diagnostics of each kind. If there are several files, each has the name of its file.
    #[must_use]
    pub fn lines(&self) -> Vec<impl Serialize> {
        let name = |file: usize| self.files.get(file).filter(|_| self.files.len() > 1).map(|(name, _)| name.as_str());
        let kept = self.kept.iter().map(|(file, diagnostic)| DiagnosticLine::found(name(*file), diagnostic, 0));
        let more = self.files.iter().enumerate().flat_map(|(file, (_, tally))| tally.more(name(file)));
        kept.chain(more).collect()
    }

    /// The diagnostics of a file as in the table of traces: their number with payloads that are longer than their schemas, and whether the file is
    /// damaged.
    #[cfg(feature = "table")]
    #[must_use]
    pub fn of_file(&self, file: usize) -> (u64, bool) {
        let count = |(_, tally): &(String, Tally)| tally.counts().map(|(_, count)| count).sum();
        (self.files.get(file).map_or(0, count), self.damaged.contains(&file))
    }

    /// The number of diagnostics.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.files.iter().map(|(_, tally)| tally.total()).sum()
    }
}
