//! `cargo xtask etl`.

use crate::{Error, Outcome, workspace};
use std::ffi::OsString;
use std::process::Command;

/// Read trace files (.etl) of any Windows, on any host: info, events, check.
///
/// See `cargo xtask etl help`. Starts the program `etw`: its commands need the generated code, which `cargo xtask generate` must
/// be able to write even if it does not compile.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Runs the program, and exits with its exit status.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let manifest = workspace::root().join("Cargo.toml");
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--package", "etw-layouts-cli", "--manifest-path"])
        .arg(manifest)
        .args(["--", "etl"])
        .args(&args.args);
    match command.status()?.code() {
        Some(0) => Ok(Outcome::Good),
        Some(1) => Ok(Outcome::Differs),
        // The program has already reported the error.
        code => std::process::exit(code.unwrap_or(2)),
    }
}
