//! `cargo xtask ci`.

mod dependencies;
mod hosts;
mod memory;
mod packages;

use crate::{Error, Outcome, fuzz, fuzz_targets, generate, workspace};
use etw_layouts_project::verify;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Run everything that has to hold before a change goes in.
///
/// Format, lint, freshness, documentation, verification, packages, dependencies, other hosts, Miri, AddressSanitizer, some seconds of each fuzz
/// target. A step whose tool is not installed is skipped by name.
///
/// Exit status: 0 all hold, 1 one does not, 2 there is no such step.
#[derive(clap::Args)]
pub struct Args {
    /// Run only the steps whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// What became of a step.
enum Step {
    Passed,
    Failed(String),
    Skipped(String),
}

type Run = Box<dyn Fn() -> Result<Step, Error>>;

/// How long a fuzz target runs, in seconds: enough to see that it does.
const FUZZING: u64 = 3;

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let mut steps: Vec<(String, Run)> = vec![
        ("format".into(), Box::new(|| cargo(&["fmt", "--all", "--check"], &[]))),
        ("lint".into(), Box::new(|| cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]))),
        ("generated code is fresh".into(), Box::new(fresh)),
        ("documentation".into(), Box::new(|| cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]))),
        ("verify".into(), Box::new(verified)),
        ("packages".into(), Box::new(packages::complete)),
    ];
    steps.extend(dependencies::steps());
    steps.extend(hosts::steps());
    steps.extend(memory::steps());
    steps.push(("fuzz targets".into(), Box::new(fuzzed)));
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    if !steps.iter().any(|(name, _)| wanted(name)) {
        let (only, names) = (args.only.as_deref().unwrap_or_default(), steps.iter().map(|(name, _)| name.as_str()));
        return Err(format!("no step's name contains `{only}`; the steps are {}", names.collect::<Vec<_>>().join(", ")).into());
    }
    let mut failed = Vec::new();
    for (name, step) in steps.iter().filter(|(name, _)| wanted(name)) {
        let start = Instant::now();
        let word = match step()? {
            Step::Passed => "passed".to_owned(),
            Step::Skipped(why) => format!("skipped: {why}"),
            Step::Failed(why) => {
                failed.push(name.as_str());
                format!("FAILED\n{why}")
            }
        };
        anstream::println!("{name:34} {:6.1} s  {word}", start.elapsed().as_secs_f64());
    }
    if failed.is_empty() {
        return Ok(Outcome::Good);
    }
    anstream::println!("failed: {}", failed.join(", "));
    Ok(Outcome::Differs)
}

fn cargo(args: &[&str], environment: &[(&str, &str)]) -> Result<Step, Error> {
    command(&std::env::var("CARGO").unwrap_or("cargo".into()), args, environment)
}

/// A command of another toolchain.
fn cargo_of(toolchain: &str, args: &[&str], environment: &[(&str, &str)]) -> Result<Step, Error> {
    command("rustup", &[&["run", toolchain, "cargo"], args].concat(), environment)
}

/// A step that is a command in the root, which shows what it printed if it fails.
fn command(program: &str, args: &[&str], environment: &[(&str, &str)]) -> Result<Step, Error> {
    let mut command = Command::new(program);
    command.args(args).current_dir(workspace::root()).stdin(Stdio::null()).envs(environment.iter().copied());
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    Ok(match output.status.success() {
        true => Step::Passed,
        false => Step::Failed(text),
    })
}

/// What `rustup` prints, a line each; nothing if there is no `rustup`.
fn rustup(args: &[&str]) -> Vec<String> {
    let output = Command::new("rustup").args(args).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()).unwrap_or_default()
}

fn fresh() -> Result<Step, Error> {
    let project = workspace::project();
    let layouts = project.layouts()?;
    let stale = generate::stale(&layouts, &project.registry(&layouts.spec.axis)?)?;
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
        return Ok(Step::Skipped(why.into()));
    }
    fuzz::prepared(fuzz::Profile::Dev)?;
    let mut found = String::new();
    for target in fuzz_targets::targets()? {
        if let fuzz::Ran::Broke(text) = fuzz::fuzzed(&target, FUZZING, fuzz::Profile::Dev)? {
            found += &format!("{target}\n{text}\n");
        }
    }
    Ok(if found.is_empty() { Step::Passed } else { Step::Failed(found) })
}
