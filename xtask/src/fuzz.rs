//! `cargo xtask fuzz`.

use crate::{Error, Outcome, trust, workspace};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Run fuzz targets, from seeds made by code and the inputs that once broke something.
///
/// Needs the nightly toolchain and cargo-fuzz: `cargo install cargo-fuzz --locked`. Where ETW_LAYOUTS_ETL and
/// ETW_LAYOUTS_SYMBOLS name folders of real files, those are seeds too. What is learnt is kept in target/fuzz/corpus, an input that
/// breaks something in target/fuzz/artifacts: mend what it shows, and add it, as small as `cargo fuzz tmin` makes it, to
/// fuzz/regressions.
///
/// Exit status: 0 nothing was found, 1 something was, 2 there is no such target, or it cannot be built.
#[derive(clap::Args)]
pub struct Args {
    /// Targets; all if none is given.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// How long each runs.
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Enter the runs that found nothing into docs/TRUST.md.
    #[arg(long)]
    record: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let all = targets()?;
    let known = |name: &&String| all.contains(name);
    if let Some(unknown) = args.targets.iter().find(|name| !known(name)) {
        return Err(format!("there is no fuzz target {unknown}; there are {}", all.join(", ")).into());
    }
    if let Some(why) = missing() {
        return Err(why.into());
    }
    let chosen = if args.targets.is_empty() { &all } else { &args.targets };
    prepared(Profile::Release)?;
    let mut outcome = Outcome::Good;
    for name in chosen {
        match fuzzed(name, args.seconds, Profile::Release)? {
            Ran::Through { inputs } => {
                anstream::println!("{name:10} {inputs:10} inputs in {} s, no finding", args.seconds);
                if args.record {
                    let row = format!("| {name} | {} s | {inputs} | {} |", args.seconds, regressions(name));
                    trust::record(trust::FUZZ, &[row])?;
                }
            }
            Ran::Broke(text) => {
                anstream::println!("{name:10} FOUND\n{text}");
                outcome = Outcome::Differs;
            }
        }
    }
    Ok(outcome)
}

/// The names of the targets, sorted.
///
/// # Errors
///
/// The folder cannot be read.
pub fn targets() -> Result<Vec<String>, Error> {
    let stem = |path: PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries(&workspace::root().join("fuzz/fuzz_targets"))?.into_iter().map(stem).collect();
    names.sort();
    Ok(names)
}

/// How many inputs that once broke a target are kept.
pub fn regressions(target: &str) -> usize {
    entries(&workspace::root().join("fuzz/regressions").join(target)).map_or(0, |list| list.len())
}

/// The entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let list = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        list => list.map_err(|e| format!("{}: {e}", folder.display()))?,
    };
    Ok(list.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
}

/// How targets are built.
#[derive(Clone, Copy)]
pub enum Profile {
    /// As fast as they can be: for runs that look for something.
    Release,
    /// In half the time: to see that they run.
    Dev,
}

impl Profile {
    fn args(self) -> &'static [&'static str] {
        match self {
            Profile::Release => &["--fuzz-dir", "fuzz", "--features", "libfuzzer"],
            Profile::Dev => &["--fuzz-dir", "fuzz", "--features", "libfuzzer", "--dev"],
        }
    }
}

/// What became of a run.
pub enum Ran {
    /// It found nothing.
    Through {
        /// How many inputs it tried.
        inputs: u64,
    },
    /// It found something; the end of what it printed.
    Broke(String),
}

/// What keeps fuzz targets from being built here.
pub fn missing() -> Option<&'static str> {
    let runs = |program: &str, args: &[&str]| {
        let status = Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !runs("cargo-fuzz", &["--version"]) {
        return Some("cargo-fuzz is not installed: cargo install cargo-fuzz --locked");
    }
    (!runs("rustup", &["run", "nightly", "rustc", "--version"]))
        .then_some("there is no nightly toolchain: rustup toolchain install nightly")
}

/// Builds all targets, and writes their seeds.
///
/// # Errors
///
/// What the compiler says.
pub fn prepared(profile: Profile) -> Result<(), Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut seeds = Command::new(cargo);
    seeds.args(["run", "-q", "-p", "etw-layouts-fuzz", "--example", "seeds", "--"]).arg(folder("seeds"));
    let mut build = nightly(&["cargo", "fuzz", "build"]);
    build.args(profile.args());
    for mut command in [seeds, build] {
        let output = command.current_dir(workspace::root()).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
    }
    Ok(())
}

/// Runs a target that is built.
///
/// # Errors
///
/// It cannot be started.
pub fn fuzzed(target: &str, seconds: u64, profile: Profile) -> Result<Ran, Error> {
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|what| folder(what).join(target));
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    let mut command = nightly(&["cargo", "fuzz", "run"]);
    command.args(profile.args()).arg(target).args([corpus, folder("seeds").join(target)]);
    let known = workspace::root().join("fuzz/regressions").join(target);
    command.args(known.is_dir().then_some(known)).arg("--");
    command.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(format!("-max_total_time={seconds}"));
    // One input of `compile` starts the Rust compiler, the first one twice.
    command.args(["-timeout=60", "-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-print_final_stats=1", "-verbosity=1"]);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let inputs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok());
    Ok(match (output.status.success(), inputs) {
        (true, Some(inputs)) => Ran::Through { inputs },
        _ => Ran::Broke(text.lines().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")),
    })
}

fn folder(what: &str) -> PathBuf {
    workspace::root().join("target/fuzz").join(what)
}

/// Where the nightly toolchain builds: beside the stable one, so that neither waits for the other.
pub fn built() -> PathBuf {
    workspace::root().join("target/nightly")
}

/// A command of the nightly toolchain, in the root.
fn nightly(args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]).args(args).current_dir(workspace::root()).stdin(Stdio::null());
    command.env("CARGO_TARGET_DIR", built());
    command
}
