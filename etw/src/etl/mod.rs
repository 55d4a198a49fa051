//! Commands over trace files: what a file is and holds, its events, and what is wrong with it.
//!
//! Files are read as their bytes come, in memory for two buffers, so that pipes and files that a logger still writes are read as
//! well; only for the order of time, and to save several files as one, files are read into memory first.

mod check;
pub(crate) mod columns;
mod document;
mod events;
mod fields;
mod info;
pub(crate) mod input;
pub(crate) mod kind;
pub(crate) mod line;
mod lost;
mod merged;
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
use events::{Events, Order};
use input::Files;
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
    let files = command.files();
    if let Some(wanted) = command.wanted() {
        wanted.check()?;
    }
    let mut out = Output::new(files.format);
    let (inputs, mut outcome) = input::find_all(&files.files, &input::TRACES, &out);
    let mut work = match command {
        Command::Info(_) => Work::Info,
        Command::Events(args) if args.order == Order::Time => Work::Merged(Events::new(args, inputs.len() > 1)),
        Command::Events(args) => Work::Events(Events::new(args, inputs.len() > 1)),
        Command::Check(_) => Work::Check,
        Command::Stat(args) => Work::Stat(Box::new(Stats::new(args))),
        Command::Save(args) => Work::Save(args),
    };
    let is_together = matches!(work, Work::Merged(_)) || matches!(work, Work::Save(_)) && inputs.len() > 1;
    let mut unusable = 0;
    if is_together {
        let (loaded, unread) = merged::load(&inputs, &out)?;
        let (traces, others) = merged::traces(&loaded, &out);
        unusable = unread + others;
        let result = match &mut work {
            Work::Merged(events) => merged::run(&traces, events, &mut out),
            Work::Save(args) if unusable == 0 => save::several(args, &traces, &mut out),
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
        Work::Events(events) | Work::Merged(events) => {
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
    fn files(&self) -> &Files {
        match self {
            Self::Info(args) => &args.files,
            Self::Events(args) => &args.files,
            Self::Check(args) => &args.files,
            Self::Stat(args) => &args.files,
            Self::Save(args) => &args.files,
        }
    }

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
    /// The same, in the order of time, of all files together.
    Merged(Events<'a>),
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
