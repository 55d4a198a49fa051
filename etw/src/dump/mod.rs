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
use crate::etl::input::{Input, Kind, find};
use crate::etl::output::{Format, Output};
use crate::etl::stop::Stop;
use etw_layouts_cli::{Error, Outcome};
use etw_layouts_dump::{Dump, Finding, MemoryDump, Session};
use etw_layouts_memory::salvage::Which;
use etw_layouts_memory::{self as memory, Walk};
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
    Events(events::Args),
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
    /// bytes from the start of the file.
    #[arg(long, value_enum, default_value_t = Format::Text, verbatim_doc_comment)]
    pub format: Format,
    /// Of full dumps: the events of free buffers too. Those were written out already, and stay until the buffer is used again.
    #[arg(long)]
    free: bool,
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
    let files = match command {
        Command::Info(args) => &args.files,
        Command::Sessions(args) => &args.files,
        Command::Events(args) => &args.files,
        Command::Save(args) => &args.files,
    };
    if files.format == Format::Csv {
        return Err("crash dumps are printed as text or json".into());
    }
    let mut out = Output::new(files.format);
    let inputs: Vec<_> = files.files.iter().flat_map(|path| find(path, &DUMPS, &out)).collect();
    let (mut outcome, mut unusable) = (Outcome::Good, 0);
    for input in &inputs {
        let result = input::open(input).and_then(|opened| match opened {
            Opened::Triage(bytes) => triage(command, input, &bytes, &mut out),
            Opened::Memory(file) => whole(command, files, input, &file, &mut out),
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
    match (out.flush(), unusable) {
        (Err(error), _) => ended(outcome, error),
        (Ok(()), 0) => Ok(outcome),
        (Ok(()), _) => Err(format!("{unusable} of {} files could not be read or saved", inputs.len()).into()),
    }
}

fn triage(command: &Command, input: &Input, bytes: &[u8], out: &mut Output) -> Result<Outcome, Stop> {
    let dump = Dump::new(bytes).map_err(|error| Stop::Input(error.to_string()))?;
    let findings = dump.findings().iter().cloned().map(Wrong::Dump).collect();
    let content = Content { name: &input.name, sessions: dump.sessions().into(), findings, known: None };
    match command {
        Command::Info(_) => info::run(&content, &dump, out),
        _ => sessions_of(command, input, &content, out),
    }
}

fn whole(command: &Command, files: &Files, input: &Input, file: &std::fs::File, out: &mut Output) -> Result<Outcome, Stop> {
    let dump = MemoryDump::new(file).map_err(|error| Stop::Input(error.to_string()))?;
    let (kernel, known) = kernel::find(&dump, &files.kernel)?;
    let which = if files.free { Which::All } else { Which::Pending };
    if let Command::Info(args) = command {
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
    sessions_of(command, input, &content, out)
}

fn sessions_of(command: &Command, input: &Input, content: &Content<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    match command {
        Command::Events(args) => events::run(args, content, out),
        Command::Save(args) => save::run(args, input, content, out),
        Command::Info(_) | Command::Sessions(_) => sessions::run(content, out),
    }
}
