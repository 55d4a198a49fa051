//! Commands for trace files: summarize, print, check, count and copy; packets, processes and schemas.
//!
//! Trace files are streamed with two buffers in memory, so that pipes and files that a session still writes can be read. Sorting by
//! time, saving several files as one and writing packets read the files into memory first.

mod check;
mod events;
#[cfg(feature = "table")]
mod export;
mod file_events;
mod info;
mod lost;
mod manifest;
mod merged;
mod pcap;
mod processes;
mod save;
mod schemas;
mod stat;

use crate::input::Files;
#[cfg(feature = "table")]
use crate::input::Opened;
use crate::output::stop::{Stop, ended, unread};
use crate::output::{Output, reported};
use crate::selection::Wanted;
use etw_layouts_cli::{Error, Outcome};
use events::{Events, Order};
use processes::Listing;
use stat::Stats;
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

/// Summarizes a trace.
#[cfg(feature = "table")]
pub fn info(source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    info::run(source, out)
}

/// Lists the processes of a trace with their images.
#[cfg(feature = "table")]
pub fn processes(source: Opened<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    processes::with_images(source, out)
}

fn run_all(command: &Command, files: &Files) -> Result<Outcome, Error> {
    let mut out = Output::new(files.format);
    if let Some(wanted) = command.wanted() {
        wanted.check()?;
        wanted.schemas.load(&out)?;
    }
    if let Command::Schemas(args) = command {
        args.schemas.load(&out)?;
    }
    let mut outcome = Outcome::Good;
    let inputs = crate::input::find_all(&files.files, &crate::input::TRACES, &out);
    let mut work = match command {
        Command::Info(_) => Work::Info,
        Command::Events(args) if args.order == Order::Time => Work::Merged(Events::new(args, inputs.len() > 1)),
        Command::Events(args) => Work::Events(Events::new(args, inputs.len() > 1)),
        Command::Check(_) => Work::Check,
        Command::Stat(args) => Work::Stat(Box::new(Stats::new(args))),
        Command::Save(args) => Work::Save(args),
        Command::Pcap(args) => Work::Pcap(args),
        Command::Processes(args) => Work::Processes(Listing::new(args)),
        Command::Schemas(args) => Work::Schemas(args),
        Command::Manifest(args) => return manifest::run(args),
        #[cfg(feature = "table")]
        Command::Export(args) => return export::run(args),
    };
    if let Work::Events(events) | Work::Merged(events) = &mut work
        && events.is_done()
    {
        // With a limit of 0, only the column names are printed.
        if let Err(error) = events.printer.head(&mut out) {
            return ended(outcome, error);
        }
    }
    let is_together = matches!(work, Work::Merged(_) | Work::Pcap(_)) || matches!(work, Work::Save(_)) && inputs.len() > 1;
    let mut unusable = 0;
    if is_together {
        let (loaded, unread) = merged::load(&inputs, &out)?;
        let (traces, others) = merged::traces(&loaded, &out);
        unusable = unread + others;
        let result = match &mut work {
            Work::Merged(events) => merged::run(&traces, events, &mut out),
            Work::Save(args) if unusable == 0 => save::several(args, &traces, &mut out),
            Work::Pcap(args) => pcap::run(args, &traces, &mut out),
            _ => Ok(Outcome::Good),
        };
        match result {
            Ok(Outcome::Good) => {}
            Ok(Outcome::Differs) | Err(Stop::Strict) => outcome = Outcome::Differs,
            Err(Stop::Input(why)) => return Err(why.into()),
            Err(Stop::Output(error)) => return ended(outcome, error),
        }
    }
    for input in if is_together { &[][..] } else { &inputs[..] } {
        if matches!(&work, Work::Events(events) if events.is_done()) {
            break;
        }
        let result = input.open().and_then(|source| match &mut work {
            Work::Info => info::run(source, &mut out),
            Work::Events(events) | Work::Merged(events) => events.file(source, &mut out),
            Work::Check => check::run(source, &mut out),
            Work::Stat(stats) => stats.file(source, &out),
            Work::Save(args) => save::one(args, source, &mut out),
            Work::Pcap(_) => Ok(Outcome::Good),
            Work::Processes(listing) => listing.file(source, &mut out),
            Work::Schemas(args) => schemas::run(args, source, &mut out),
        });
        match result {
            Ok(Outcome::Good) => {}
            Ok(Outcome::Differs) => outcome = Outcome::Differs,
            Err(Stop::Input(why)) => {
                unusable += 1;
                out.refused(&input.name, &why);
            }
            Err(Stop::Output(error)) => return ended(outcome, error),
            Err(Stop::Strict) => {
                outcome = Outcome::Differs;
                break;
            }
        }
    }
    let result = match &work {
        Work::Stat(stats) => stats.end(&mut out),
        Work::Events(events) | Work::Merged(events) => {
            events.end(&out);
            Ok(())
        }
        _ => Ok(()),
    };
    match (result.and_then(|()| out.flush()), unusable) {
        (Err(error), _) => ended(outcome, error),
        (Ok(()), 0) => Ok(outcome),
        (Ok(()), _) => Err(unread(unusable, inputs.len()).into()),
    }
}

impl Command {
    /// The files to read, and the output format; `None` for a command with its own arguments.
    fn files(&self) -> Option<&Files> {
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

/// The work for each file, and the state kept between files.
enum Work<'a> {
    Info,
    Events(Events<'a>),
    /// Events of all files together, in order of time.
    Merged(Events<'a>),
    Check,
    Stat(Box<Stats<'a>>),
    Save(&'a save::Args),
    /// Packets of all files together, in order of time.
    Pcap(&'a pcap::Args),
    Processes(Listing<'a>),
    Schemas(&'a schemas::Args),
}
