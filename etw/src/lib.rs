//! The commands: thin printing over what `etw-layouts-project` finds.

#![forbid(unsafe_code)]

pub mod atlas;
mod columns;
pub mod diff;
pub mod export;
pub mod fmt;
mod html;
pub mod import;
pub mod kernel;
pub mod list;
pub mod map;
mod new_file;
mod print;
mod progress;
pub mod show;
mod target;
pub mod verify;

use clap::Subcommand;
pub use etw_layouts_project::Error;
use etw_layouts_project::Project;
use etw_layouts_project::project::Files;
pub use new_file::NewFile;
pub use print::{compact, escape, guid, is_formula, is_hidden, json, pretty, print};
use std::process::ExitCode;

/// The commands.
#[derive(Subcommand)]
#[allow(missing_docs, reason = "the help of a command is that of its arguments")]
pub enum Command {
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    Map(map::Args),
    Export(export::Args),
    Atlas(atlas::Args),
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
        recover(project)?;
        match (&project.facts, self) {
            (Files::Folder(facts), Self::Import(_)) if !project.root.join(facts).is_dir() => {
                let help = "make it first, for the facts of new kernels";
                return Err(format!("{}: no such folder; {help}", facts.display()).into());
            }
            // Only an import may bring the first facts.
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
            Self::Verify(args) => verify::run(args, project),
            Self::Import(args) => import::run(args, project),
            Self::Fmt(args) => fmt::run(args, project),
        }
    }
}

/// Completes or rolls back what an interrupted command left, and says which.
///
/// # Errors
///
/// Files that cannot be written, or that were changed since.
pub fn recover(project: &Project) -> Result<(), Error> {
    if let Some(done) = project.recover()? {
        anstream::eprintln!("note: {done}");
    }
    Ok(())
}

/// What a command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is as it should be: exit status 0.
    Good,
    /// Something differs: exit status 1.
    Differs,
}

/// How a command prints what it found.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text to read.
    Text,
    /// One JSON document.
    Json,
}

/// The exit status of a command; an error is printed.
pub fn exit(result: Result<Outcome, Error>) -> ExitCode {
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(1),
        Err(error) => {
            print::error(&error);
            ExitCode::from(2)
        }
    }
}
