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
    let nothing = |_: &Output| Ok(());
    match command {
        Command::Info(args) => on_files(&args.files, nothing, |inputs, out| each(inputs, out, info::run)),
        Command::Check(args) => on_files(&args.files, nothing, |inputs, out| each(inputs, out, check::run)),
        Command::Events(args) => {
            on_files(&args.files, |out| args.asked.wanted.load(out), |inputs, out| events::run(args, inputs, out))
        }
        Command::Stat(args) => on_files(&args.files, |out| args.wanted.load(out), |inputs, out| stat::run(args, inputs, out)),
        Command::Save(args) => on_files(&args.files, |out| args.wanted.load(out), |inputs, out| save::run(args, inputs, out)),
        Command::Pcap(args) => on_files(&args.files, |out| args.wanted.load(out), |inputs, out| pcap::run(args, inputs, out)),
        Command::Processes(args) => {
            on_files(&args.files, |out| args.schemas.load(out), |inputs, out| processes::run(args, inputs, out))
        }
        Command::Schemas(args) => {
            on_files(&args.files, |out| args.schemas.load(out), |inputs, out| schemas::run(args, inputs, out))
        }
        Command::Manifest(args) => manifest::run(args),
        #[cfg(feature = "table")]
        Command::Export(args) => export::run(args),
    }
}

#[cfg(feature = "table")]
pub use export::{hash_all, location};
pub use info::read as info;
pub use pcap::packets;
pub use processes::documents as processes;

/// The result of a command on all its files.
#[derive(Default)]
pub struct Done {
    outcome: Outcome,
    /// The number of files that cannot be read, which were reported.
    pub unusable: usize,
}

impl Done {
    /// Adds the outcome of a file.
    pub fn add(&mut self, outcome: Outcome) {
        if outcome == Outcome::Differs {
            self.outcome = outcome;
        }
    }
}

/// Runs a command on files, after `load` has read what its options name.
fn on_files(
    files: &input::Files,
    load: impl FnOnce(&Output) -> Result<(), Error>,
    run: impl FnOnce(&[Input], &mut Output) -> Result<Done, Stop>,
) -> Result<Outcome, Error> {
    reported(files.format, run_on(files, load, run))
}

fn run_on(
    files: &input::Files,
    load: impl FnOnce(&Output) -> Result<(), Error>,
    run: impl FnOnce(&[Input], &mut Output) -> Result<Done, Stop>,
) -> Result<Outcome, Error> {
    let mut out = Output::new(files.format);
    out.is_detailed = files.diagnostics;
    load(&out)?;
    let inputs = input::find_all(&files.files, &input::TRACES, &out);
    match run(&inputs, &mut out) {
        Ok(Done { outcome, unusable }) => match (out.flush(), unusable) {
            (Err(error), _) => ended(outcome, error),
            (Ok(()), 0) => Ok(outcome),
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
