//! Commands for trace files: summarize, print, check, count and copy; packets, processes and schemas.
//!
//! `info` and `check` read files as streams, with two buffers in memory. The other commands read them as traces, in slices: twice, and by position.

mod check;
mod events;
#[cfg(feature = "table")]
mod export;
mod info;
mod lost;
mod manifest;
mod one_pass;
mod pcap;
mod processes;
mod save;
mod schemas;
mod stat;
pub mod traces;

use crate::input::{self, Input, Opened};
use crate::output::stop::{Stop, ended, unread};
use crate::output::{Output, reported};
use crate::selection::Wanted;
use etw_layouts_cli::{Error, Outcome};
use std::io::Write;

/// Inspect trace files (.etl).
#[derive(clap::Subcommand)]
pub enum Command {
    Info(info::Args),
    Events(Box<events::Args>),
    Check(check::Args),
    Stat(Box<stat::Args>),
    Save(Box<save::Args>),
    Pcap(Box<pcap::Args>),
    Processes(processes::Args),
    Schemas(schemas::Args),
    Manifest(manifest::Args),
    #[cfg(feature = "table")]
    Export(Box<export::Args>),
}

/// Runs the command on each file. Reports a file that cannot be read and continues with the next one.
///
/// # Errors
///
/// Returns an error if a file cannot be read or the output cannot be written. A closed output pipe is not an error.
pub fn run(command: &Command) -> Result<Outcome, Error> {
    match (command.files(), command) {
        (Some(files), _) => reported(files.format, run_all(command, files)),
        #[cfg(feature = "table")]
        (None, Command::Export(args)) => export::run(args),
        (None, Command::Manifest(args)) => manifest::run(args),
        (None, _) => Ok(Outcome::Good),
    }
}

pub use info::read as info;
pub use pcap::packets;
pub use processes::documents as processes;

/// The result of a command on all its files.
#[derive(Default)]
pub struct Done {
    outcome: Option<Outcome>,
    /// The number of files that cannot be read, which were reported.
    pub unusable: usize,
}

impl Done {
    /// Adds the outcome of a file.
    pub fn add(&mut self, outcome: Outcome) {
        self.outcome = Some(match (self.outcome, outcome) {
            (Some(Outcome::Differs), _) | (_, Outcome::Differs) => Outcome::Differs,
            _ => Outcome::Good,
        });
    }
}

fn run_all(command: &Command, files: &input::Files) -> Result<Outcome, Error> {
    let mut out = Output::new(files.format);
    out.is_detailed = files.diagnostics;
    if let Some(wanted) = command.wanted() {
        wanted.check()?;
        wanted.schemas.load(&out)?;
    }
    match command {
        Command::Schemas(args) => args.schemas.load(&out)?,
        Command::Processes(args) => args.schemas.load(&out)?,
        _ => {}
    }
    let inputs = input::find_all(&files.files, &input::TRACES, &out);
    let result = match command {
        Command::Info(_) => each(&inputs, &mut out, info::run),
        Command::Check(_) => each(&inputs, &mut out, check::run),
        Command::Events(args) => events::run(args, &inputs, &mut out),
        Command::Stat(args) => stat::run(args, &inputs, &mut out),
        Command::Save(args) => save::run(args, &inputs, &mut out),
        Command::Pcap(args) => pcap::run(args, &inputs, &mut out),
        Command::Processes(args) => processes::run(args, &inputs, &mut out),
        Command::Schemas(args) => schemas::run(args, &inputs, &mut out),
        Command::Manifest(args) => return manifest::run(args),
        #[cfg(feature = "table")]
        Command::Export(args) => return export::run(args),
    };
    match result {
        Ok(Done { outcome, unusable }) => match (out.flush(), unusable) {
            (Err(error), _) => ended(outcome.unwrap_or(Outcome::Good), error),
            (Ok(()), 0) => Ok(outcome.unwrap_or(Outcome::Good)),
            (Ok(()), _) => Err(unread(unusable, inputs.len()).into()),
        },
        Err(Stop::Strict) => out.flush().map_or_else(|error| ended(Outcome::Differs, error), |()| Ok(Outcome::Differs)),
        Err(Stop::Input(why)) => Err(why.into()),
        Err(Stop::Output(error)) => ended(Outcome::Good, error),
    }
}

/// Runs a command on each file, as a stream.
fn each(
    inputs: &[Input],
    out: &mut Output,
    run: impl Fn(Opened<'_>, &mut Output) -> Result<Outcome, Stop>,
) -> Result<Done, Stop> {
    let mut done = Done::default();
    for input in inputs {
        match input.open().and_then(|source| run(source, out)) {
            Ok(outcome) => done.add(outcome),
            Err(Stop::Input(why)) => {
                done.unusable += 1;
                out.refused(&input.name, &why);
            }
            Err(stop) => return Err(stop),
        }
    }
    Ok(done)
}

impl Command {
    /// The files to read, and the output format; `None` for a command with its own arguments.
    fn files(&self) -> Option<&input::Files> {
        match self {
            Self::Info(args) => Some(&args.files),
            Self::Events(args) => Some(&args.files),
            Self::Check(args) => Some(&args.files),
            Self::Stat(args) => Some(&args.files),
            Self::Save(args) => Some(&args.files),
            Self::Pcap(args) => Some(&args.files),
            Self::Processes(args) => Some(&args.files),
            Self::Schemas(args) => Some(&args.files),
            Self::Manifest(_) => None,
            #[cfg(feature = "table")]
            Self::Export(_) => None,
        }
    }

    /// The options that select events.
    fn wanted(&self) -> Option<&Wanted> {
        match self {
            Self::Events(args) => Some(&args.asked.wanted),
            Self::Stat(args) => Some(&args.wanted),
            Self::Save(args) => Some(&args.wanted),
            Self::Pcap(args) => Some(&args.wanted),
            Self::Info(_) | Self::Check(_) | Self::Processes(_) | Self::Schemas(_) | Self::Manifest(_) => None,
            #[cfg(feature = "table")]
            Self::Export(args) => Some(&args.wanted),
        }
    }
}
