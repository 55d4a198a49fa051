//! Commands for crash dumps: summarize their ETW state, print their events, and save their sessions as trace files.

mod about;
mod diagnostics;
mod events;
mod identity;
mod info;
mod input;
mod save;
mod sessions;
mod symbols;
mod whole;

use crate::input::{Input, Kind, each, find_all};
use crate::output::stop::{Done, Stop, finished};
use crate::output::{Format, Output, Several, reported};
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_dump::{BufferSelection, Diagnostic, Dump, DumpFile, DumpSession, MemoryDump, Source};
use etw_layouts_memory::{self as memory, Walk};
use events::Events;
use std::borrow::Cow;
use std::path::PathBuf;

const DUMPS: Kind = Kind { ending: Some("dmp"), name: "crash dump" };

/// Inspect ETW in kernel crash dumps (.dmp).
#[derive(clap::Subcommand)]
pub enum Command {
    Info(info::Args),
    Sessions(sessions::Args),
    Events(Box<events::Args>),
    Save(save::Args),
}

/// Arguments of every command.
#[derive(clap::Args)]
pub struct Files {
    /// Crash dumps, folders to search for *.dmp, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Output format
    ///
    /// In JSON, each line is one object, also for notes, diagnostics and errors on standard error. Times are
    /// 64-bit numbers in units of 100 ns since 1601. Tools that use floating-point numbers, such as jq, round
    /// these numbers; use the `…_utc` strings (RFC 3339) in such tools. Addresses, keywords and bug check
    /// values are hexadecimal strings. `offset` is an offset in the file. For an event, `buffer_offset` is the
    /// offset of its buffer in the file, and `offset` is the offset of the event in its buffer.
    #[arg(long, value_enum, default_value_t = Format::Text, verbatim_doc_comment)]
    pub format: Format,
    /// Include the events of free buffers (full dumps only). These events were already written by the session; they remain in
    /// memory until the buffer is reused.
    #[arg(long)]
    free: bool,
    /// Use the trace buffers found in the memory ranges instead of the sessions that the kernel added to the dump (minidumps
    /// only).
    #[arg(long)]
    memory: bool,
    #[command(flatten)]
    kernel: identity::Args,
}

/// The content of a dump of any kind.
pub struct Content<'a> {
    /// The file name as given by the user.
    pub name: &'a str,
    pub sessions: Cow<'a, [DumpSession<'a>]>,
    /// Diagnostics, except those for events.
    pub diagnostics: Vec<DumpDiagnostic>,
    /// The build whose memory was walked.
    pub known: Option<&'a identity::Known>,
}

/// A diagnostic for the file, or a finding in memory.
#[derive(Clone)]
pub enum DumpDiagnostic {
    Dump(Diagnostic),
    Memory(memory::Finding),
}

/// Runs the command on each dump. Reports a dump that cannot be read and continues with the next one.
pub fn run(command: &Command) -> Result<Outcome, Error> {
    let format = command.files().format;
    reported(format, run_on(command, &mut Output::new(format)))
}

/// Runs the command on each dump with this output.
pub fn run_on(command: &Command, out: &mut Output) -> Result<Outcome, Error> {
    let files = command.files();
    let mut events = match command {
        Command::Events(args) => Some(Events::new(args, out)?),
        _ => None,
    };
    if let Some(symbols) = files.kernel.symbols.as_ref().filter(|symbols| !symbols.exists()) {
        return Err(format!("{}: no such file or folder; check the path", symbols.display()).into());
    }
    let inputs = find_all(&files.files, &DUMPS, out);
    if let Some(events) = &mut events {
        events.is_single = inputs.len() == 1;
    }
    let result = each(&inputs, out, |input, out| match events.as_ref().is_some_and(Events::is_done) {
        true => Ok(Outcome::Good),
        false => match input::open(input)? {
            DumpFile::Triage(dump) => triage(command, &mut events, input, dump, out),
            DumpFile::Memory(dump) => whole(command, &mut events, input, &dump, out),
        },
    });
    let end = events.filter(|_| result.is_ok()).map_or(Ok(()), |events| events.end(out));
    finished(result, inputs.len(), out).and_then(|outcome| end.map(|()| outcome))
}

/// Runs the command on physical memory without the headers of a dump, as [`MemoryDump::from_memory`] reads it. The file that the command names is only a
/// name.
pub fn run_on_memory<S: Source>(command: &Command, source: S, ranges: &[(u64, u64)], out: &mut Output) -> Result<Outcome, Error> {
    let mut events = match command {
        Command::Events(args) => Some(Events::new(args, out)?),
        _ => None,
    };
    let inputs = find_all(&command.files().files, &DUMPS, out);
    let [input] = &inputs[..] else { return Err("one name of memory is needed".into()) };
    let dump = MemoryDump::from_memory(source, ranges, command.files().kernel.build()).map_err(|error| error.to_string())?;
    let result = whole(command, &mut events, input, &dump, out);
    let end = events.filter(|_| result.is_ok()).map_or(Ok(()), |events| events.end(out));
    let result = result.map(|outcome| Done { outcome, unusable: 0 });
    finished(result, 1, out).and_then(|outcome| end.map(|()| outcome))
}

impl Command {
    fn files(&self) -> &Files {
        match self {
            Self::Info(args) => &args.files,
            Self::Sessions(args) => &args.files,
            Self::Events(args) => &args.files,
            Self::Save(args) => &args.files,
        }
    }
}

/// Runs the command on a minidump. `events` is the state of `events` between dumps.
fn triage(
    command: &Command,
    events: &mut Option<Events<'_>>,
    input: &Input,
    dump: Dump<'_>,
    out: &mut Output,
) -> Result<Outcome, Stop> {
    let files = command.files();
    let revision = identity::Revision::find(dump.header().build, &files.kernel)?;
    let dump = dump.with_revision(revision.build.revision);
    let diagnostics = dump.diagnostics().iter().cloned().map(DumpDiagnostic::Dump).collect();
    let mut notes = files.without_effect(matches!(command, Command::Events(_)));
    if let Command::Info(args) = command {
        let content = Content { name: &input.name, sessions: dump.sessions().into(), diagnostics, known: None };
        return info::run(&content, args.details, &dump, &revision, notes, out);
    }
    notes.extend(revision.note());
    let in_memory = dump.memory_sessions();
    if !files.memory {
        notes.extend(not_among(dump.sessions(), &in_memory));
    }
    let sessions = if files.memory { in_memory.into() } else { dump.sessions().into() };
    let content = Content { name: &input.name, sessions, diagnostics, known: None };
    notes.into_iter().for_each(|note| out.note(&input.name, &note));
    sessions_of(command, events, input, &content, out)
}

/// A note if memory contains events of sessions that are not in the session list.
fn not_among(sessions: &[DumpSession<'_>], in_memory: &[DumpSession<'_>]) -> Option<String> {
    let is_known = |number| sessions.iter().any(|session| session.logger_id == number);
    let others = in_memory.iter().filter(|session| !is_known(session.logger_id));
    let (buffers, events) = others.fold((0, 0), |(buffers, events), session| {
        (buffers + session.buffers.len() as u64, events + session.events().0.len() as u64)
    });
    let count = buffers;
    let (buffers, events) = ((count > 0).then_some(Several(count, "trace buffer"))?, Several(events, "event"));
    Some(format!(
        "{buffers} with {events} of sessions that are not listed {} in the memory of the dump; use --memory to read them",
        if count == 1 { "is" } else { "are" }
    ))
}

fn whole<S: Source>(
    command: &Command,
    events: &mut Option<Events<'_>>,
    input: &Input,
    dump: &MemoryDump<S>,
    out: &mut Output,
) -> Result<Outcome, Stop> {
    let files = command.files();
    let (kernel, known) = identity::find(dump, &files.kernel)?;
    let selection = if files.free { BufferSelection::All } else { BufferSelection::Pending };
    if files.memory {
        out.note(&input.name, "--memory has no effect on a full dump; it applies to minidumps");
    }
    if let Command::Info(args) = command {
        return whole::run(&input.name, args.details, dump, &kernel, &known, selection, out);
    }
    known.report(&input.name, out);
    let mut walk = Walk::new(dump, &kernel).with_limits(dump.limits());
    walk.published_offsets();
    let found = walk.sessions();
    let sessions = dump.sessions(&mut walk, &found, selection);
    let of_dump = dump.diagnostics().iter().cloned().map(DumpDiagnostic::Dump);
    let diagnostics = of_dump.chain(walk.into_findings().into_iter().map(DumpDiagnostic::Memory)).collect();
    let content = Content { name: &input.name, sessions: sessions.into(), diagnostics, known: Some(&known) };
    sessions_of(command, events, input, &content, out)
}

fn sessions_of(
    command: &Command,
    events: &mut Option<Events<'_>>,
    input: &Input,
    content: &Content<'_>,
    out: &mut Output,
) -> Result<Outcome, Stop> {
    match (command, events) {
        (_, Some(events)) => events.dump(content, out),
        (Command::Save(args), _) => save::run(args, input, content, out),
        _ => sessions::run(content, out),
    }
}

impl Files {
    /// Notes on options without effect: a minidump has no free buffers, and symbols are not used for it, except for messages of events.
    fn without_effect(&self, has_messages: bool) -> Vec<String> {
        let given = [
            (self.free, "--free"),
            (self.kernel.symbols.is_some(), "--symbols"),
            (self.kernel.symbol_path.is_some() && !has_messages, "--symbol-path"),
        ];
        let given = given.into_iter().filter(|(is_given, _)| *is_given);
        given.map(|(_, option)| format!("{option} has no effect on a minidump; it applies to full dumps")).collect()
    }
}
