//! The workspace's own commands, as a library so that tests can call them.

#![forbid(unsafe_code)]

pub mod ci;
pub mod columns;
pub mod diff;
pub mod errata;
pub mod etl;
pub mod figures;
pub mod fuzz;
pub mod generate;
pub mod header;
pub mod import;
pub mod mutants;
pub mod names;
pub mod project;
pub mod readme;
pub mod replace;
pub mod show;
pub mod snapshot;
pub mod tables;
pub mod verify;

/// Why a command failed. Nothing that a command compares is an error.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

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
