//! `cargo xtask fuzz`.

use crate::{Error, Outcome, trust_tables, workspace};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Run fuzz targets, starting with generated seeds and earlier failing inputs.
///
/// Needs the nightly toolchain and cargo-fuzz: `cargo install cargo-fuzz --locked`. If ETW_LAYOUTS_ETL and ETW_LAYOUTS_SYMBOLS
/// are folders of real files, these are seeds too. The corpus is stored in target/fuzz/corpus, a failing input in
/// target/fuzz/artifacts: fix the failure, minimize the input with `cargo fuzz tmin`, and add it to fuzz/regressions.
///
/// Exit status: 0 no failures, 1 failures, 2 unknown target or build error.
#[derive(clap::Args)]
pub struct Args {
    /// Targets; all by default.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Running time of each target, in seconds.
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Add the runs without failures to docs/TRUST.md.
    #[arg(long)]
    record: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let all = targets()?;
    let known = |name: &&String| all.contains(name);
    if let Some(unknown) = args.targets.iter().find(|name| !known(name)) {
        return Err(format!("unknown fuzz target {unknown}; the targets are {}", all.join(", ")).into());
    }
    if let Some(why) = missing() {
        return Err(why.into());
    }
    let chosen = if args.targets.is_empty() { &all } else { &args.targets };
    let programs = prepared(Profile::Release)?;
    let mut outcome = Outcome::Good;
    for name in chosen {
        match fuzzed(&programs.join(name), args.seconds)? {
            Ran::Through { inputs } => {
                anstream::println!("{name:10} {inputs:10} inputs in {} s, no failure", args.seconds);
                if args.record {
                    let row = format!("| {name} | {} s | {inputs} | {} |", args.seconds, regressions(name));
                    trust_tables::record(trust_tables::FUZZ, &[row])?;
                }
            }
            Ran::Broke(text) => {
                anstream::println!("{name:10} FAILED\n{text}");
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

/// Number of stored regression inputs of a target.
pub fn regressions(target: &str) -> usize {
    entries(&workspace::root().join("fuzz/regressions").join(target)).map_or(0, |list| list.len())
}

/// The entries of a folder; empty if it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let list = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        list => list.map_err(|e| format!("{}: {e}", folder.display()))?,
    };
    Ok(list.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
}

/// Build profile of targets.
#[derive(Clone, Copy)]
pub enum Profile {
    /// Optimized, for long runs.
    Release,
    /// Compiled in half the time, for smoke tests.
    Dev,
}

impl Profile {
    fn args(self) -> &'static [&'static str] {
        match self {
            Profile::Release => &["--fuzz-dir", "fuzz", "--features", "libfuzzer"],
            Profile::Dev => &["--fuzz-dir", "fuzz", "--features", "libfuzzer", "--dev"],
        }
    }

    /// The name of the profile's folder in the target folder.
    fn folder(self) -> &'static str {
        match self {
            Profile::Release => "release",
            Profile::Dev => "debug",
        }
    }
}

/// The result of a run.
pub enum Ran {
    /// No failure.
    Through {
        /// Number of inputs executed.
        inputs: u64,
    },
    /// A failure, with the end of its output.
    Broke(String),
}

/// The missing tool for building fuzz targets, if any.
pub fn missing() -> Option<&'static str> {
    let runs = |program: &str, args: &[&str]| {
        let status = Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !runs("cargo-fuzz", &["--version"]) {
        return Some("cargo-fuzz is not installed: cargo install cargo-fuzz --locked");
    }
    (!runs("rustup", &["run", "nightly", "rustc", "--version"]))
        .then_some("the nightly toolchain is not installed: rustup toolchain install nightly")
}

/// Builds all targets, and writes their seeds. Returns the folder of the programs.
///
/// # Errors
///
/// Compilation fails.
pub fn prepared(profile: Profile) -> Result<PathBuf, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut seeds = Command::new(cargo);
    seeds.args(["run", "-q", "-p", "etw-layouts-fuzz", "--example", "seeds", "--"]).arg(folder("seeds"));
    let host = nightly(&["rustc", "--print", "host-tuple"]);
    let mut text = String::new();
    for mut command in [seeds, build(profile), host] {
        let output = command.current_dir(workspace::root()).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        text = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    Ok(built().join(text.trim()).join(profile.folder()))
}

/// Runs the program of a target.
///
/// # Errors
///
/// The target cannot be started.
pub fn fuzzed(program: &Path, seconds: u64) -> Result<Ran, Error> {
    let target = program.file_name().unwrap_or_default();
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|what| folder(what).join(target));
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    // The target is not started by cargo-fuzz, which would first recompile what has changed. cargo-fuzz sets the same option of
    // AddressSanitizer.
    let mut command = Command::new(program);
    command.current_dir(workspace::root()).stdin(Stdio::null()).env("ASAN_OPTIONS", "detect_odr_violation=0");
    command.args([corpus, folder("seeds").join(target)]);
    let known = workspace::root().join("fuzz/regressions").join(target);
    command.args(known.is_dir().then_some(known));
    command.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(format!("-max_total_time={seconds}"));
    // An input of `compile` runs the Rust compiler; the first input runs it twice.
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

/// Target folder of the nightly toolchain, separate from the stable one so that neither waits for the other.
pub fn built() -> PathBuf {
    workspace::root().join("target/nightly")
}

/// The command that builds all targets.
fn build(profile: Profile) -> Command {
    let mut command = nightly(&["cargo", "fuzz", "build"]);
    // Each input has a time limit, which unoptimized code can exceed. For line numbers of a failure, run it in the release
    // profile.
    command.args(profile.args()).env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "false");
    command
}

/// A command of the nightly toolchain, in the root.
fn nightly(args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]).args(args).current_dir(workspace::root()).stdin(Stdio::null());
    command.env("CARGO_TARGET_DIR", built());
    command
}
