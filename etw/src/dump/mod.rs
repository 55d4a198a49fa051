//! Commands over crash dumps: what ETW has in them, and their sessions as trace files.

mod about;
mod events;
mod info;
mod input;
mod kernel;
mod save;
mod sessions;
mod tally;
mod whole;

use crate::etl::ended;
use crate::etl::input::{Input, Kind, find_all};
use crate::etl::output::{Format, Output, Several};
use crate::etl::stop::Stop;
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_dump::{Dump, Finding, Header, MemoryDump, Session};
use etw_layouts_memory::salvage::Which;
use etw_layouts_memory::{self as memory, Walk};
use events::Events;
use input::Opened;
use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;

const DUMPS: Kind = Kind { ending: "dmp", name: "crash dump" };

/// What to do with crash dumps.
#[derive(clap::Subcommand)]
pub enum Command {
    Info(info::Args),
    Sessions(sessions::Args),
    Events(Box<events::Args>),
    Save(save::Args),
}

/// What every command takes.
#[derive(clap::Args)]
pub struct Files {
    /// Crash dumps, folders that are searched for *.dmp, or - for the standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How to print it.
    ///
    /// In json, one object a line. Times count 100 ns since 1601; such numbers lose digits where they become
    /// floating point, as in jq: beside each stands its text (…_utc, RFC 3339). offset is where something is, in
    /// bytes from the start of the file; of an event, buffer_offset is that, and offset where in the buffer it is.
    #[arg(long, value_enum, default_value_t = Format::Text, verbatim_doc_comment)]
    pub format: Format,
    /// Of full dumps: the events of free buffers too. Those were written out already, and stay until the buffer is used again.
    #[arg(long)]
    free: bool,
    /// Of minidumps: trace buffers found in the pieces of memory, instead of the sessions that the kernel added to the dump.
    #[arg(long)]
    memory: bool,
    #[command(flatten)]
    kernel: kernel::Args,
}

/// What a dump holds, of whatever kind.
pub struct Content<'a> {
    /// The dump, as the user knows it.
    pub name: &'a str,
    pub sessions: Cow<'a, [Session<'a>]>,
    /// What is wrong with it, but for what is wrong with events.
    pub findings: Vec<Wrong>,
    /// What is known of the kernel whose memory was walked.
    pub known: Option<&'a kernel::Known>,
}

/// Something wrong, with a file or with memory.
#[derive(Clone)]
pub enum Wrong {
    Dump(Finding),
    Memory(memory::Finding),
}

/// Prints what a command tells of each dump. One that cannot be read is reported, and the next one is read.
///
/// # Errors
///
/// A dump could not be read, or nothing can be printed. That nobody takes the output any more is no error.
pub fn run(command: &Command) -> Result<Outcome, Error> {
    let (files, mut work) = match command {
        Command::Info(args) => (&args.files, Work::Info(args)),
        Command::Sessions(args) => (&args.files, Work::Sessions),
        Command::Events(args) => (&args.files, Work::Events(Box::new(Events::new(args)?))),
        Command::Save(args) => (&args.files, Work::Save(args)),
    };
    let mut out = Output::new(files.format);
    let (inputs, mut outcome) = find_all(&files.files, &DUMPS, &out);
    let mut unusable = 0;
    for input in &inputs {
        if matches!(&work, Work::Events(events) if events.is_done()) {
            break;
        }
        let result = input::open(input).and_then(|opened| match opened {
            Opened::Triage(bytes) => triage(&mut work, files, input, &bytes, &mut out),
            Opened::Memory(file) => whole(&mut work, files, input, &file, &mut out),
        });
        match result {
            Ok(Outcome::Good) => {}
            Ok(Outcome::Differs) | Err(Stop::Strict) => outcome = Outcome::Differs,
            Err(Stop::Input(why)) => {
                unusable += 1;
                out.refused(&input.name, &why);
            }
            Err(Stop::Output(error)) => return ended(outcome, error),
        }
    }
    let told = match &work {
        Work::Events(events) => events.end(&out),
        _ => Ok(()),
    };
    match (out.flush(), unusable) {
        (Err(error), _) => ended(outcome, error),
        (Ok(()), 0) => told.map(|()| outcome),
        (Ok(()), _) => Err(format!("{unusable} of {} files could not be read or saved", inputs.len()).into()),
    }
}

/// What is done with each dump, and what that keeps from dump to dump.
enum Work<'a> {
    Info(&'a info::Args),
    Sessions,
    Events(Box<Events<'a>>),
    Save(&'a save::Args),
}

fn triage(work: &mut Work<'_>, files: &Files, input: &Input, bytes: &[u8], out: &mut Output) -> Result<Outcome, Stop> {
    let unread = |error: etw_layouts_dump::Error| Stop::Input(error.to_string());
    let revision = kernel::Revision::find(Header::of(bytes).map_err(unread)?.build, &files.kernel)?;
    let dump = Dump::with_revision(bytes, revision.build.revision).map_err(unread)?;
    let findings = dump.findings().iter().cloned().map(Wrong::Dump).collect();
    let mut notes = files.without_effect();
    if let Work::Info(args) = work {
        let content = Content { name: &input.name, sessions: dump.sessions().into(), findings, known: None };
        return info::run(&content, args.details, &dump, &revision, notes, out);
    }
    notes.extend(revision.note());
    let in_memory = dump.memory_sessions();
    if !files.memory {
        notes.extend(not_among(dump.sessions(), &in_memory));
    }
    let sessions = if files.memory { in_memory.into() } else { dump.sessions().into() };
    let content = Content { name: &input.name, sessions, findings, known: None };
    notes.into_iter().for_each(|note| out.aside(&kernel::Note { file: &input.name, note }));
    sessions_of(work, input, &content, out)
}

/// That there are events in memory of sessions which are not among those of the dump.
fn not_among(sessions: &[Session<'_>], in_memory: &[Session<'_>]) -> Option<String> {
    let is_known = |number| sessions.iter().any(|session| session.logger_id == number);
    let others = in_memory.iter().filter(|session| !is_known(session.logger_id));
    let (buffers, events) = others.fold((0, 0), |(buffers, events), session| {
        (buffers + session.buffers.len() as u64, events + session.events().0.len() as u64)
    });
    let (buffers, events) = ((buffers > 0).then_some(Several(buffers, "trace buffer"))?, Several(events, "event"));
    Some(format!("{buffers} of other sessions, with {events}, found in memory: --memory takes them"))
}

fn whole(work: &mut Work<'_>, files: &Files, input: &Input, file: &std::fs::File, out: &mut Output) -> Result<Outcome, Stop> {
    let dump = MemoryDump::new(file).map_err(|error| Stop::Input(error.to_string()))?;
    let (kernel, known) = kernel::find(&dump, &files.kernel)?;
    let which = if files.free { Which::All } else { Which::Pending };
    if files.memory {
        let note = "--memory has no effect: this is a full dump, and the option is for minidumps".to_owned();
        out.aside(&kernel::Note { file: &input.name, note });
    }
    if let Work::Info(args) = work {
        return whole::run(&input.name, args.details, &dump, &kernel, &known, which, out);
    }
    known.tell(&input.name, out);
    let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
    walk.witness();
    let found = walk.sessions();
    let sessions = dump.sessions(&mut walk, &found, which);
    let of_dump = dump.findings().iter().cloned().map(Wrong::Dump);
    let findings = of_dump.chain(walk.into_findings().into_iter().map(Wrong::Memory)).collect();
    let content = Content { name: &input.name, sessions: sessions.into(), findings, known: Some(&known) };
    sessions_of(work, input, &content, out)
}

fn sessions_of(work: &mut Work<'_>, input: &Input, content: &Content<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    match work {
        Work::Events(events) => events.dump(content, out),
        Work::Save(args) => save::run(args, input, content, out),
        Work::Info(_) | Work::Sessions => sessions::run(content, out),
    }
}

impl Files {
    /// What is to be said of options that a minidump has no use for: it has no free buffers, and nothing in it is found by symbols.
    fn without_effect(&self) -> Vec<String> {
        let given = [
            (self.free, "--free"),
            (self.kernel.symbols.is_some(), "--symbols"),
            (self.kernel.symbol_path.is_some(), "--symbol-path"),
        ];
        let given = given.into_iter().filter(|(is_given, _)| *is_given);
        given.map(|(_, option)| format!("{option} has no effect: this is a minidump, and the option is for full dumps")).collect()
    }
}
