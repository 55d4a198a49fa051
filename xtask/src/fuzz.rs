//! `cargo xtask fuzz`.

use crate::{Error, Outcome, trust_tables, workspace};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Run fuzz targets, starting with generated seeds and earlier failing inputs.
///
/// Needs the nightly toolchain. If ETW_LAYOUTS_ETL and ETW_LAYOUTS_SYMBOLS are folders of real files, these are seeds too. The
/// corpus is stored in target/fuzz/corpus, a failing input in target/fuzz/artifacts: fix the failure, minimize the input with
/// --minimize, and add it to fuzz/regressions.
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
    /// Minimize a failing input of the target, in this time, to a file in target/fuzz/artifacts.
    #[arg(long, value_name = "FILE")]
    minimize: Option<PathBuf>,
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
    let program = built(Profile::Release)?;
    if let Some(file) = &args.minimize {
        let [target] = &args.targets[..] else { return Err("--minimize needs the target of the input".into()) };
        let mut command = command(&program, target, args.seconds)?;
        let output = command.arg("-minimize_crash=1").arg(file).output()?;
        anstream::print!("{}", end_of(&String::from_utf8_lossy(&output.stderr)));
        return Ok(if output.status.success() { Outcome::Good } else { Outcome::Differs });
    }
    let mut outcome = Outcome::Good;
    for name in chosen {
        match fuzzed(&program, name, args.seconds)? {
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
pub fn targets() -> Result<Vec<String>, Error> {
    let stem = |path: PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries(&workspace::root().join("fuzz/src/targets"))?.into_iter().map(stem).collect();
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

/// The targets that are compiled for minutes. Each is a feature of the fuzz targets.
pub const SLOW: [&str; 2] = ["packets", "table"];

/// Build profile of targets.
#[derive(Clone, Copy)]
pub enum Profile {
    /// Optimized, for long runs.
    Release,
    /// Compiled in half the time, for smoke tests. Without the targets [`SLOW`].
    Dev,
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
    let status = nightly().args(["rustc", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    (!status.is_ok_and(|status| status.success()))
        .then_some("the nightly toolchain is not installed: rustup toolchain install nightly")
}

/// Options of the compiler that libFuzzer needs: coverage of branches and of compared values, and AddressSanitizer.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-stack-depth \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Zsanitizer=address";

/// Builds the fuzzer. Returns its path.
pub fn built(profile: Profile) -> Result<PathBuf, Error> {
    let host = nightly().args(["rustc", "--print", "host-tuple"]).output()?;
    let host = String::from_utf8_lossy(&host.stdout).trim().to_owned();
    let mut build = nightly();
    // With a target, the options do not apply to build scripts and macros.
    build.args(["cargo", "build", "-q", "-p", "etw-layouts-fuzz", "--features", "libfuzzer", "--bin", "fuzz", "--target", &host]);
    let folder = match profile {
        // The coverage passes prevent inlining between codegen units.
        Profile::Release => {
            build.arg("--release").env("RUSTFLAGS", format!("{FLAGS} -Ccodegen-units=1"));
            "release"
        }
        // Each input has a time limit, which unoptimized code can exceed. For line numbers of a failure, run it in the release
        // profile.
        Profile::Dev => {
            build.arg("--no-default-features").env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "false");
            build.env("RUSTFLAGS", format!("{FLAGS} -Cdebug-assertions"));
            "debug"
        }
    };
    let output = build.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(target_folder().join(host).join(folder).join("fuzz"))
}

/// Runs a target.
pub fn fuzzed(program: &Path, target: &str, seconds: u64) -> Result<Ran, Error> {
    let mut command = command(program, target, seconds)?;
    command.args([folder("corpus").join(target), folder("seeds").join(target)]);
    let known = workspace::root().join("fuzz/regressions").join(target);
    let output = command.args(known.is_dir().then_some(known)).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let inputs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok());
    Ok(match (output.status.success(), inputs) {
        (true, Some(inputs)) => Ran::Through { inputs },
        _ => Ran::Broke(end_of(&text)),
    })
}

/// The fuzzer with the options of all runs.
fn command(program: &Path, target: &str, seconds: u64) -> Result<Command, Error> {
    let [corpus, seeds, artifacts] = ["corpus", "seeds", "artifacts"].map(|name| folder(name).join(target));
    for folder in [&corpus, &seeds, &artifacts] {
        fs::create_dir_all(folder)?;
    }
    let mut command = Command::new(program);
    command.current_dir(workspace::root()).stdin(Stdio::null());
    command.env("ETW_LAYOUTS_FUZZ", target).env("ETW_LAYOUTS_FUZZ_SEEDS", seeds);
    // Statics of the standard library are in the program several times.
    command.env("ASAN_OPTIONS", "detect_odr_violation=0");
    command.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(format!("-max_total_time={seconds}"));
    // An input of `compile` runs the Rust compiler; the first input runs it twice.
    command.args(["-timeout=60", "-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-print_final_stats=1", "-verbosity=1"]);
    Ok(command)
}

/// The last lines of an output.
fn end_of(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}

fn folder(name: &str) -> PathBuf {
    workspace::root().join("target/fuzz").join(name)
}

/// Target folder of the nightly toolchain, separate from the stable one so that neither waits for the other.
pub fn target_folder() -> PathBuf {
    workspace::root().join("target/nightly")
}

/// A command of the nightly toolchain, in the root.
fn nightly() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]).current_dir(workspace::root()).stdin(Stdio::null());
    command.env("CARGO_TARGET_DIR", target_folder());
    command
}
