//! Commands over trace files: what a file is and holds, its events, and what is wrong with it.
//!
//! Files are read as their bytes come, in memory for two buffers, so that pipes and files that a logger still writes are read as
//! well; only for the order of time a file is read into memory first.

mod check;
mod events;
mod info;
mod input;
mod output;
mod progress;
mod stop;
mod tally;

use etw_layouts_cli::{Error, Outcome};
use output::Output;
use std::io::{self, Write};
use stop::Stop;

/// What to do with trace files.
#[derive(clap::Subcommand)]
pub enum Command {
    Info(info::Args),
    Events(events::Args),
    Check(check::Args),
}

/// Prints what a command tells of each file. A file that cannot be read is reported, and the next one is read.
///
/// # Errors
///
/// A file could not be read, or nothing can be printed. That nobody takes the output any more is no error.
pub fn run(command: &Command) -> Result<Outcome, Error> {
    let files = match command {
        Command::Info(args) => &args.files,
        Command::Events(args) => &args.files,
        Command::Check(args) => &args.files,
    };
    let mut out = Output::new(files.format);
    let inputs: Vec<_> = files.files.iter().flat_map(|path| input::find(path, &out)).collect();
    let (mut outcome, mut unusable) = (Outcome::Good, 0);
    for input in &inputs {
        let result = input.open().and_then(|source| match command {
            Command::Info(_) => info::run(source, &mut out),
            Command::Events(args) => events::run(args, source, &mut out),
            Command::Check(_) => check::run(source, &mut out),
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
    match (out.flush(), unusable) {
        (Err(error), _) => ended(outcome, error),
        (Ok(()), 0) => Ok(outcome),
        (Ok(()), _) => Err(format!("{unusable} of {} files could not be read", inputs.len()).into()),
    }
}

/// Whoever closes the output has seen enough.
fn ended(outcome: Outcome, error: io::Error) -> Result<Outcome, Error> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(outcome),
        _ => Err(format!("the output cannot be written: {error}").into()),
    }
}
