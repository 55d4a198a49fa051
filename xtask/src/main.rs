//! Commands for the development of the workspace.

#![forbid(unsafe_code)]

mod catalog;
mod ci;
mod etl;
mod fuzz;
mod generate;
mod hosts;
mod mutants;
mod pages;
mod publish;
mod release;
mod site;
mod snapshot;
mod steps;
mod trust;
mod trust_tables;
mod unsafety;
mod workspace;

use clap::{Parser, Subcommand};
use etw_layouts_cli::{Error, Format, Outcome};
use std::process::ExitCode;

/// Generate, verify and maintain the memory layouts of Event Tracing for Windows.
///
/// The specs in specs/ are the source of all generated code: edit them, then run `cargo xtask generate` and `cargo xtask verify`.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Generate(generate::Args),
    #[command(flatten)]
    Product(etw_layouts_cli::Command),
    Snapshot(snapshot::Args),
    Catalog(catalog::Args),
    Mutants(mutants::Args),
    Etl(etl::Args),
    Fuzz(fuzz::Args),
    Site(site::Args),
    Release(release::Args),
    Publish(publish::Args),
    Ci(ci::Args),
}

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    etw_layouts_cli::exit(run(&command))
}

fn run(command: &Command) -> Result<Outcome, Error> {
    match command {
        Command::Generate(args) => generate::run(args),
        Command::Product(command) => command.run(&generate::project()),
        Command::Snapshot(args) => snapshot::run(args),
        Command::Catalog(args) => catalog::run(args),
        Command::Mutants(args) => mutants::run(args),
        Command::Etl(args) => etl::run(args),
        Command::Fuzz(args) => fuzz::run(args),
        Command::Site(args) => site::run(args),
        Command::Release(args) => release::run(args),
        Command::Publish(args) => publish::run(args),
        Command::Ci(args) => ci::run(args),
    }
}
