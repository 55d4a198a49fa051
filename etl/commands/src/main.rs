//! What `cargo xtask etl` runs. It is a program of its own because it stands on generated code, which `cargo xtask generate` must
//! be able to write even when it does not compile.

#![forbid(unsafe_code)]

mod check;
mod events;
mod info;

use clap::{Parser, Subcommand};
use etw_layouts_etl::{Trace, map};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Read trace files (.etl) of any Windows, on any host.
///
///     cargo xtask etl info trace.etl
///     cargo xtask etl events --order time trace.etl
///     cargo xtask etl check --format json *.etl
///
/// Exit status: 0 good, 1 findings, 2 unusable input.
#[derive(Parser)]
#[command(name = "cargo xtask etl", bin_name = "cargo xtask etl", max_term_width = 100, verbatim_doc_comment)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Args),
    Events(events::Args),
    Check(check::Args),
}

/// What every command takes.
#[derive(clap::Args)]
struct Files {
    /// Trace files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How to print it. Times in json count 100 ns since 1601.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Text,
    /// One object a line.
    Json,
}

/// Why a command failed.
type Error = Box<dyn std::error::Error + Send + Sync>;

/// What a command found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// All is as it should be.
    Good,
    /// There are findings.
    Differs,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(1),
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<Outcome, Error> {
    // Nothing that goes there has a style. A terminal gets whole lines, so that progress stands between none.
    let stdout = io::stdout().lock();
    let mut out: Box<dyn Write> = match stdout.is_terminal() {
        true => Box::new(stdout),
        false => Box::new(io::BufWriter::with_capacity(1 << 16, stdout)),
    };
    let result = match &args.command {
        Command::Info(args) => info::run(args, &mut out),
        Command::Events(args) => events::run(args, &mut out),
        Command::Check(args) => check::run(args, &mut out),
    };
    let result = result.and_then(|outcome| Ok(out.flush().map(|()| outcome)?));
    match result {
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&error) => Ok(Outcome::Good),
        result => result,
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    let kind = match error.downcast_ref::<serde_json::Error>() {
        Some(error) => error.io_error_kind(),
        None => error.downcast_ref::<io::Error>().map(io::Error::kind),
    };
    kind == Some(io::ErrorKind::BrokenPipe)
}

/// Gives a file's bytes to a command; errors name the file.
fn with_trace<T>(path: &Path, command: impl FnOnce(&str, &Trace<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let name = path.display().to_string();
    // What cannot be mapped, as a pipe, can be read.
    let bytes = map::map(path).or_else(|_| map::read(path)).map_err(|e| format!("{name}: {e}"))?;
    let trace = Trace::new(&bytes).map_err(|e| format!("{name}: {e}"))?;
    command(&name, &trace)
}

/// A finding, with its file.
#[derive(Serialize)]
struct Found<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    buffer: u64,
    offset: u32,
    what: String,
}

impl<'a> Found<'a> {
    fn new(file: Option<&'a str>, finding: &etw_layouts_etl::Finding) -> Self {
        Self { file, buffer: finding.buffer, offset: finding.at, what: finding.what.to_string() }
    }
}

/// Progress over the bytes of a file, on a terminal, once two seconds have passed.
struct Progress {
    bar: ProgressBar,
    /// When it began, while it does not show yet.
    start: Cell<Option<Instant>>,
}

impl Progress {
    fn new(name: &str, trace: &Trace<'_>) -> Result<Self, Error> {
        let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {msg}")?;
        let bar = ProgressBar::hidden().with_style(style).with_message(name.to_owned());
        bar.set_length(trace.bytes().len() as u64);
        Ok(Self { bar, start: Cell::new(Some(Instant::now())) })
    }

    fn at(&self, offset: u64) {
        if self.start.get().is_some_and(|start| start.elapsed() > Duration::from_secs(2)) {
            self.start.take();
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        self.bar.set_position(offset);
    }

    /// Prints something, while the bar is away.
    fn beside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
