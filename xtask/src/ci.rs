//! `cargo xtask ci`.

mod alone;
mod dependencies;
mod explorer;
mod features;
mod hosts;
mod memory;
pub mod packages;
mod wheel;

use crate::steps::{Run, Step, cargo, cargo_of, choose, in_turn};
use crate::{Error, Outcome, fuzz, generate, trust_tables, workspace};
use etw_layouts_payload::FileTime;
use etw_layouts_project::{format, verify};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

/// Run all checks that a change has to pass.
///
/// These are formatting, lints, freshness of generated files, documentation, verification, packages, other hosts, the
/// Python package, and Miri. A step whose tool is not installed is skipped, or fails if ETW_LAYOUTS_REQUIRED contains the word
/// `tools`.
///
/// With --weekly, these are the steps that rarely find what the others and the tests do not, or take long: the page of the explorer in a browser, each feature alone, all features but one, the features of
/// single structures, licenses and advisories of dependencies, each fuzz target with AddressSanitizer for some seconds, and the
/// tests on a machine with Rust and a C compiler only. If all of them pass, docs/TRUST.md gets the date.
///
/// Exit status: 0 all steps passed, 1 a step failed, 2 no step matches.
#[derive(clap::Args)]
pub struct Args {
    /// Run only the steps whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Run the steps of each week.
    #[arg(long)]
    weekly: bool,
}

/// Running time of a fuzz target in seconds; enough for a smoke test.
const FUZZING: u64 = 3;

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let (mut steps, mut nightly) = if args.weekly { (weekly(), vec![fuzz_targets()]) } else { (each_change(), memory::steps()) };
    choose(&mut steps, &mut nightly, args.only.as_deref())?;
    let failed = std::thread::scope(|scope| {
        let beside = scope.spawn(|| in_turn(&nightly));
        let mut failed = in_turn(&steps).failed;
        failed.extend(beside.join().map_or_else(|_| vec!["the steps of the nightly compiler"], |beside| beside.failed));
        failed
    });
    if !failed.is_empty() {
        anstream::println!("failed: {}", failed.join(", "));
        return Ok(Outcome::Differs);
    }
    // A run of some steps is no run of the week.
    if args.weekly && args.only.is_none() {
        let today = today();
        let rows: Vec<_> = steps.iter().chain(&nightly).map(|(name, _)| format!("| {name} | {today} |")).collect();
        trust_tables::record(trust_tables::WEEKLY, &rows)?;
    }
    Ok(Outcome::Good)
}

/// The steps of each change, by the compiler of the workspace.
fn each_change() -> Vec<(String, Run)> {
    let mut steps: Vec<(String, Run)> = vec![
        ("format".into(), Box::new(|| cargo(&["fmt", "--all", "--check"], &[]))),
        ("format of specs".into(), Box::new(formatted)),
        ("lint".into(), Box::new(|| cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]))),
        ("generated code is fresh".into(), Box::new(fresh)),
        ("documentation".into(), Box::new(|| cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]))),
        ("verify".into(), Box::new(verified)),
        ("packages".into(), Box::new(packages::complete)),
    ];
    steps.extend(hosts::steps());
    steps.extend(wheel::steps());
    steps
}

/// Each fuzz target with AddressSanitizer. The tests replay the seeds and mutations without it.
fn fuzz_targets() -> (String, Run) {
    ("fuzz targets".into(), Box::new(fuzzed))
}

fn weekly() -> Vec<(String, Run)> {
    let mut steps = dependencies::steps();
    steps.extend(explorer::steps());
    steps.push(("features".into(), Box::new(features::alone)));
    steps.push(("all features but one".into(), Box::new(features::but_one)));
    steps.push(("features of structures".into(), Box::new(features::structures)));
    steps.push(("tests without other programs".into(), Box::new(alone::tests)));
    steps
}

/// The date in UTC.
fn today() -> String {
    let since = UNIX_EPOCH.elapsed().unwrap_or_default();
    let ticks = i64::try_from(since.as_nanos() / 100).unwrap_or(0);
    FileTime(FileTime::UNIX_EPOCH.0.saturating_add(ticks)).to_string().chars().take(10).collect()
}

/// A cargo command of the nightly toolchain, with a separate target folder.
fn nightly(args: &[&str], environment: &[(&str, &str)]) -> Result<Step, Error> {
    let folder = fuzz::target_folder().display().to_string();
    cargo_of("nightly", args, &[environment, &[("CARGO_TARGET_DIR", &folder)]].concat())
}

fn formatted() -> Result<Step, Error> {
    let changed = format::formatted(&workspace::project())?;
    let names: Vec<_> = changed.keys().map(String::as_str).collect();
    Ok(match names.is_empty() {
        true => Step::Passed,
        false => Step::Failed(format!("run `cargo xtask fmt`: {}", names.join(", "))),
    })
}

fn fresh() -> Result<Step, Error> {
    let project = workspace::project();
    let layouts = project.layouts()?;
    let stale = generate::stale(&layouts, &project.registry(&layouts.spec.axis)?, &Vec::new())?;
    let names: Vec<_> = stale.iter().map(|(path, _)| path.as_str()).collect();
    Ok(match names.is_empty() {
        true => Step::Passed,
        false => Step::Failed(format!("run `cargo xtask generate`: {}", names.join(", "))),
    })
}

fn verified() -> Result<Step, Error> {
    let project = workspace::project();
    let layouts = project.layouts()?;
    let report = verify::shipped(&project, &layouts)?;
    Ok(match report.differs() {
        false => Step::Passed,
        true => Step::Failed(etw_layouts_cli::verify::text(&layouts, &report, false)),
    })
}

fn fuzzed() -> Result<Step, Error> {
    if let Some(why) = fuzz::missing() {
        return Ok(Step::Absent(why.into()));
    }
    let program = fuzz::built(fuzz::Profile::Dev)?;
    let targets: Vec<_> = fuzz::targets()?.into_iter().filter(|target| !fuzz::SLOW.contains(&target.as_str())).collect();
    // Run two targets at a time: these are the last steps, and a target uses one processor.
    let next = AtomicUsize::new(0);
    let work = || -> Result<String, String> {
        let mut failed = String::new();
        while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let fuzz::Ran::Broke(text) = fuzz::fuzzed(&program, target, FUZZING).map_err(|error| error.to_string())? {
                failed += &format!("{target}\n{text}\n");
            }
        }
        Ok(failed)
    };
    let failed = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let own = work()?;
        Ok::<_, String>(own + &other.join().map_err(|_| "a fuzz target could not be run")??)
    })?;
    Ok(if failed.is_empty() { Step::Passed } else { Step::Failed(failed) })
}
