//! Commands for trace files: summarize, print, check, count and copy; packets, processes and schemas.
//!
//! `info` and `check` read files as streams, with two buffers in memory. The other commands read them as traces, in slices: twice, and by position.

mod carve;
mod check;
mod comparable;
mod compare;
mod events;
#[cfg(feature = "table")]
mod export;
mod info;
mod lost;
mod manifest;
pub mod messages;
mod one_pass;
mod pcap;
mod processes;
mod profile;
mod report;
mod save;
mod schemas;
mod stat;
pub mod symbols;
mod timeline;
mod top;
pub mod traces;

use crate::input::{self, Input, each};
use crate::output::stop::{Done, Stop, finished};
use crate::output::{Output, reported};
use etw_layouts_cli::{Error, Outcome};
use std::path::PathBuf;

/// Inspect trace files (.etl).
#[derive(clap::Subcommand)]
pub enum Command {
    Info(info::Args),
    Events(Box<events::Args>),
    Check(check::Args),
    Stat(Box<stat::Args>),
    Top(Box<top::Args>),
    Compare(Box<compare::Args>),
    Save(Box<save::Args>),
    Carve(carve::Args),
    Pcap(Box<pcap::Args>),
    Processes(processes::Args),
    Timeline(Box<timeline::Args>),
    Profile(Box<profile::Args>),
    Report(Box<report::Args>),
    Schemas(schemas::Args),
    Manifest(manifest::Args),
    #[cfg(feature = "table")]
    Export(Box<export::Args>),
}

impl Command {
    /// Whether [`run`] writes the output of the command to the output that it is given.
    pub fn has_output(&self) -> bool {
        match self {
            Self::Manifest(_) => false,
            #[cfg(feature = "table")]
            Self::Export(_) => false,
            _ => true,
        }
    }
}

/// Runs the command on each file. Reports a file that cannot be read and continues with the next one. `out` receives the output instead of standard
/// output and standard error, except for `manifest` and `export`.
pub fn run(command: &Command, out: Option<&mut Output>) -> Result<Outcome, Error> {
    let nothing = |_: &Output| Ok(());
    match command {
        Command::Info(args) => {
            on_files(&args.files, out, nothing, |inputs, out| each(inputs, out, |input, out| info::run(input.open()?, out)))
        }
        Command::Check(args) => {
            on_files(&args.files, out, nothing, |inputs, out| each(inputs, out, |input, out| check::run(input.open()?, out)))
        }
        Command::Events(args) => {
            on_files(&args.files, out, |out| args.asked.wanted.load(out), |inputs, out| events::run(args, inputs, out))
        }
        Command::Stat(args) => {
            on_files(&args.files, out, |out| args.wanted.load(out), |inputs, out| stat::run(args, inputs, out))
        }
        Command::Top(args) => {
            on_files(&args.input(), out, |out| args.wanted.load(out), |inputs, out| top::run(args, inputs, out))
        }
        Command::Compare(args) => compare::run(args, out),
        Command::Save(args) => {
            on_files(&args.files, out, |out| args.wanted.load(out), |inputs, out| save::run(args, inputs, out))
        }
        Command::Pcap(args) => {
            on_files(&args.files, out, |out| args.wanted.load(out), |inputs, out| pcap::run(args, inputs, out))
        }
        Command::Carve(args) => carve::run(args, out),
        Command::Processes(args) => {
            on_files(&args.files, out, |out| args.schemas.load(out), |inputs, out| processes::run(args, inputs, out))
        }
        Command::Timeline(args) => {
            on_files(&args.files, out, |out| args.load(out), |inputs, out| timeline::run(args, inputs, out))
        }
        Command::Profile(args) => {
            on_files(&args.input(), out, |out| args.wanted.load(out), |inputs, out| profile::run(args, inputs, out))
        }
        Command::Report(args) => {
            on_files(&args.input(), out, |out| args.schemas.load(out), |inputs, out| report::run(args, inputs, out))
        }
        Command::Schemas(args) => {
            on_files(&args.files, out, |out| args.schemas.load(out), |inputs, out| schemas::run(args, inputs, out))
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
#[cfg(feature = "table")]
pub use top::Document as Top;

/// Writes the report of a trace file as a page to a new file.
pub fn report(file: PathBuf, page: PathBuf) -> Result<Outcome, Error> {
    run(&Command::Report(Box::new(report::Args::page(file, page))), None)
}

/// Runs a command on files, after `load` has read what its options name.
fn on_files(
    files: &input::Files,
    out: Option<&mut Output>,
    load: impl FnOnce(&Output) -> Result<(), Error>,
    run: impl FnOnce(&[Input], &mut Output) -> Result<Done, Stop>,
) -> Result<Outcome, Error> {
    match out {
        Some(out) => run_on(files, out, load, run),
        None => reported(files.format, run_on(files, &mut Output::new(files.format), load, run)),
    }
}

fn run_on(
    files: &input::Files,
    out: &mut Output,
    load: impl FnOnce(&Output) -> Result<(), Error>,
    run: impl FnOnce(&[Input], &mut Output) -> Result<Done, Stop>,
) -> Result<Outcome, Error> {
    out.is_detailed = files.diagnostics;
    load(out)?;
    let inputs = input::find_all(&files.files, &input::TRACES, out);
    let result = run(&inputs, out);
    finished(result, inputs.len(), out)
}
