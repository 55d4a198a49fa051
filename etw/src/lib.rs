//! The commands: they print the results of `etw-layouts-project`, and with the feature `embedded` the contents of traces and dumps.

#![forbid(unsafe_code)]

extern crate self as etw_layouts_cli;

#[cfg(feature = "embedded")]
pub mod api;
pub mod atlas;
pub mod diff;
#[cfg(feature = "embedded")]
mod dump;
#[cfg(feature = "embedded")]
mod etl;
pub mod event;
pub mod export;
pub mod fmt;
pub mod import;
#[cfg(feature = "embedded")]
mod input;
pub mod list;
pub mod map;
mod new_file;
mod object;
pub mod open;
#[cfg(feature = "embedded")]
mod output;
mod print;
#[cfg(feature = "embedded")]
mod program;
mod progress;
pub mod show;
pub mod symbol_options;
mod target;
pub mod text_table;
pub mod verify;

use clap::Subcommand;
use clap::builder::{PathBufValueParser, TypedValueParser};
#[cfg(feature = "embedded")]
pub use etw_layouts_lines::unreadable;
#[cfg(feature = "embedded")]
use etw_layouts_lines::{schemas, selection, wpp};
pub use etw_layouts_project::Error;
use etw_layouts_project::Project;
use etw_layouts_project::change::Lock;
use etw_layouts_project::project::Files;
pub use new_file::NewFile;
pub use print::{compact, csv_cell, escape, is_formula, is_hidden, json, pretty, print};
#[cfg(feature = "embedded")]
pub use program::{built_in, program};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The commands.
#[derive(Subcommand)]
#[allow(missing_docs, reason = "the help of a command is in its arguments")]
pub enum Command {
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    Map(map::Args),
    Export(export::Args),
    Atlas(atlas::Args),
    Open(open::Args),
    Verify(verify::Args),
    Import(import::Args),
    Fmt(fmt::Args),
}

impl Command {
    /// Runs the command on a project.
    ///
    /// # Errors
    ///
    /// Unusable input.
    pub fn run(&self, project: &Project) -> Result<Outcome, Error> {
        match (&project.facts, self) {
            (Files::Folder(facts), Self::Import(_)) if !project.root.join(facts).is_dir() => {
                let help = "create it before the import, which stores facts there";
                return Err(format!("{}: no such folder; {help}", facts.display()).into());
            }
            // Only an import can run without facts: it adds the first ones.
            (Files::Folder(_), Self::Import(_) | Self::Fmt(_)) | (Files::Embedded(_), _) => {}
            (Files::Folder(_), _) => _ = project.fact_files()?,
        }
        match self {
            Self::List(args) => list::run(args, project),
            Self::Show(args) => show::run(args, project),
            Self::Diff(args) => diff::run(args, project),
            Self::Map(args) => map::run(args, project),
            Self::Export(args) => export::run(args, project),
            Self::Atlas(args) => atlas::run(args, project),
            Self::Open(args) => open::run(args, project),
            Self::Verify(args) => verify::run(args, project),
            Self::Import(args) => import::run(args, project),
            Self::Fmt(args) => fmt::run(args, project),
        }
    }
}

/// Locks a project. Prints a note if an interrupted change was completed or discarded.
///
/// # Errors
///
/// As [`Project::lock`].
pub fn lock(project: &Project, command: &str) -> Result<Lock, Error> {
    let lock = project.lock(command)?;
    note(lock.recovered.as_deref());
    Ok(lock)
}

/// Prints a note on standard error.
pub fn note(text: Option<&str>) {
    if let Some(text) = text {
        anstream::eprintln!("note: {text}");
    }
}

/// The result of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// No differences and no diagnostics: exit status 0.
    #[default]
    Good,
    /// Differences or diagnostics: exit status 1.
    Differs,
}

/// The output format of a command.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Readable text.
    Text,
    /// One JSON document.
    Json,
}

/// Parses the path of an output that cannot be standard output.
#[must_use]
pub fn no_stdout() -> impl TypedValueParser<Value = PathBuf> {
    let parse = |path: PathBuf| match path == Path::new("-") {
        true => Err("`-` does not mean standard output here; give a path, such as ./- for this name"),
        false => Ok(path),
    };
    PathBufValueParser::new().try_map(parse)
}

/// The reason why an output folder cannot be created.
pub fn no_folder(folder: &Path, error: &io::Error) -> String {
    let why = if folder.is_file() { "is a file; name a folder with --output".to_owned() } else { error.to_string() };
    format!("{}: {why}", folder.display())
}

/// The error of a command that has printed its errors itself.
#[derive(Debug)]
pub struct Reported;

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the command failed; see the messages above")
    }
}

impl std::error::Error for Reported {}

/// Prints the error, if there is one, and returns the exit status of a command.
pub fn exit(result: Result<Outcome, Error>) -> ExitCode {
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(1),
        Err(error) => {
            if !error.is::<Reported>() {
                print::error(&error);
            }
            ExitCode::from(2)
        }
    }
}
