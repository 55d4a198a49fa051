//! Commands over crash dumps: what ETW has in them, and their sessions as trace files.

mod events;
mod info;
mod input;
mod save;
mod sessions;
mod tally;

use crate::etl::ended;
use crate::etl::output::{Format, Output};
use crate::etl::stop::Stop;
use etw_layouts_cli::{Error, Outcome};
use std::io::Write;
use std::path::PathBuf;

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
    let mut out = Output::new(files.format);
    let inputs: Vec<_> = files.files.iter().flat_map(|path| input::find(path)).collect();
    let (mut outcome, mut unusable) = (Outcome::Good, 0);
    for input in &inputs {
        let result = input.read().and_then(|bytes| {
            let dump = etw_layouts_dump::Dump::new(&bytes).map_err(|error| Stop::Input(error.to_string()))?;
            match command {
                Command::Info(_) => info::run(&input.name, &dump, &mut out),
                Command::Sessions(_) => sessions::run(&input.name, &dump, &mut out),
                Command::Events(args) => events::run(args, &input.name, &dump, &mut out),
                Command::Save(args) => save::run(args, input, &dump, &mut out),
            }
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
