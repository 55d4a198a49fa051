//! The workspace's own commands.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use xtask::{Outcome, ci, diff, etl, figures, fuzz, generate, header, import, mutants, show, snapshot, verify};

/// Knows, proves and generates the memory layouts of Event Tracing for Windows.
///
/// The specs in specs/ are the source of everything: edit them, then run `cargo xtask generate` and `cargo xtask verify`.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Generate(generate::Args),
    Verify(verify::Args),
    Snapshot(snapshot::Args),
    Show(show::Args),
    Diff(diff::Args),
    Import(import::Args),
    Header(header::Args),
    Mutants(mutants::Args),
    Etl(etl::Args),
    Fuzz(fuzz::Args),
    Figures(figures::Args),
    Ci(ci::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Generate(args) => generate::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Header(args) => header::run(&args),
        Command::Mutants(args) => mutants::run(&args),
        Command::Etl(args) => etl::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Figures(args) => figures::run(&args),
        Command::Ci(args) => ci::run(&args),
    };
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(1),
        Err(error) => {
            // Spec errors bring their own heading.
            let text = error.to_string();
            let heading = if text.starts_with("error") { "" } else { "error: " };
            anstream::eprintln!("{heading}{text}");
            ExitCode::from(2)
        }
    }
}
