//! Commands over trace files: what a file is and holds, its events, and what is wrong with it.
//!
//! Files are read as their bytes come, in memory for two buffers, so that pipes and files that a logger still writes are read as
//! well; only for the order of time a file is read into memory first.

mod check;
pub(crate) mod columns;
mod document;
mod events;
mod fields;
mod info;
pub(crate) mod input;
pub(crate) mod kind;
pub(crate) mod line;
pub(crate) mod output;
pub(crate) mod printer;
mod progress;
mod put;
mod save;
mod stat;
pub(crate) mod stop;
mod structure;
pub(crate) mod tally;
mod wanted;
mod writer;

use etw_layouts_cli::{Error, Outcome};
use events::Events;
use output::Output;
use stat::Stats;
use std::io::{self, Write};
use stop::Stop;
use wanted::Wanted;

/// What to do with trace files.
#[derive(clap::Subcommand)]
pub enum Command {
    Info(info::Args),
    Events(Box<events::Args>),
    Check(check::Args),
    Stat(Box<stat::Args>),
    Save(Box<save::Args>),
}

/// Prints what a command tells of each file. A file that cannot be read is reported, and the next one is read.
///
/// # Errors
///
/// A file could not be read, or nothing can be printed. That nobody takes the output any more is no error.
pub fn run(command: &Command) -> Result<Outcome, Error> {
    let (files, mut work) = match command {
        Command::Info(args) => (&args.files, Work::Info),
        Command::Events(args) => (&args.files, Work::Events(Events::new(args))),
        Command::Check(args) => (&args.files, Work::Check),
        Command::Stat(args) => (&args.files, Work::Stat(Box::new(Stats::new(args)))),
        Command::Save(args) => (&args.files, Work::Save(args)),
    };
    if let Some(wanted) = command.wanted() {
        wanted.check()?;
    }
    let mut out = Output::new(files.format);
    let inputs: Vec<_> = files.files.iter().flat_map(|path| input::find(path, &input::TRACES, &out)).collect();
    if matches!(work, Work::Save(_)) && inputs.len() != 1 {
        return Err(format!("the events of one trace file are saved, and here are {}", inputs.len()).into());
    }
    let (mut outcome, mut unusable) = (Outcome::Good, 0);
    for input in &inputs {
        if matches!(&work, Work::Events(events) if events.is_done()) {
            break;
        }
        let result = input.open().and_then(|source| match &mut work {
            Work::Info => info::run(source, &mut out),
            Work::Events(events) => events.file(source, &mut out),
            Work::Check => check::run(source, &mut out),
            Work::Stat(stats) => stats.file(source, &out),
            Work::Save(args) => save::run(args, source, &mut out),
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
    let told = match &work {
        Work::Stat(stats) => stats.end(&mut out),
        Work::Events(events) => {
            events.end(&out);
            Ok(())
        }
        _ => Ok(()),
    };
    match (told.and_then(|()| out.flush()), unusable) {
        (Err(error), _) => ended(outcome, error),
        (Ok(()), 0) => Ok(outcome),
        (Ok(()), _) => Err(format!("{unusable} of {} files could not be read", inputs.len()).into()),
    }
}

impl Command {
    /// Which events are asked for.
    fn wanted(&self) -> Option<&Wanted> {
        match self {
            Self::Events(args) => Some(&args.asked.wanted),
            Self::Stat(args) => Some(&args.wanted),
            Self::Save(args) => Some(&args.wanted),
            Self::Info(_) | Self::Check(_) => None,
        }
    }
}

/// What is done with each file, and what that keeps from file to file.
enum Work<'a> {
    Info,
    Events(Events<'a>),
    Check,
    Stat(Box<Stats<'a>>),
    Save(&'a save::Args),
}

/// Whoever closes the output has seen enough.
pub(crate) fn ended(outcome: Outcome, error: io::Error) -> Result<Outcome, Error> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(outcome),
        _ => Err(format!("the output cannot be written: {error}").into()),
    }
}
