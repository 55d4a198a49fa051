//! `cargo xtask ci`.

use crate::{Error, Outcome, generate, project, verify};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Run everything that has to hold before a change goes in.
///
/// Format, lint, freshness, documentation, verification, other hosts. A step whose tool is not installed is skipped by name.
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

/// Hosts that generated code must compile for, and what the last of them must say instead.
const HOSTS: [(&str, Option<&str>); 5] = [
    ("i686-unknown-linux-gnu", None),
    ("i686-pc-windows-msvc", None),
    ("x86_64-unknown-none", None),
    ("thumbv7em-none-eabi", None),
    ("s390x-unknown-linux-gnu", Some("the layouts are little-endian")),
];

type Run = Box<dyn Fn() -> Result<Step, Error>>;

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let mut steps: Vec<(String, Run)> = vec![
        ("format".into(), Box::new(|| cargo(&["fmt", "--all", "--check"], &[]))),
        ("lint".into(), Box::new(|| cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]))),
        ("generated code is fresh".into(), Box::new(fresh)),
        ("documentation".into(), Box::new(|| cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]))),
        ("verify".into(), Box::new(verified)),
    ];
    for (host, refusal) in HOSTS {
        steps.push((format!("host {host}"), Box::new(move || check_host(host, refusal))));
    }
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
    let program = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(project::root()).stdin(Stdio::null()).envs(environment.iter().copied());
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    Ok(match output.status.success() {
        true => Step::Passed,
        false => Step::Failed(text),
    })
}

fn fresh() -> Result<Step, Error> {
    let stale = generate::stale(&project::layouts()?)?;
    let names: Vec<_> = stale.iter().map(|(path, _)| path.as_str()).collect();
    Ok(match names.is_empty() {
        true => Step::Passed,
        false => Step::Failed(format!("run `cargo xtask generate`: {}", names.join(", "))),
    })
}

fn verified() -> Result<Step, Error> {
    let report = verify::shipped()?;
    Ok(match report.differs() {
        false => Step::Passed,
        true => Step::Failed(report.text(false)),
    })
}

fn check_host(host: &str, refusal: Option<&str>) -> Result<Step, Error> {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let installed = installed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if !installed.lines().any(|line| line == host) {
        return Ok(Step::Skipped(format!("the target is not installed: rustup target add {host}")));
    }
    Ok(match (cargo(&["check", "-q", "-p", "etw-layouts", "--target", host], &[])?, refusal) {
        (Step::Failed(text), Some(refusal)) if text.contains(refusal) => Step::Passed,
        (Step::Passed, Some(refusal)) => Step::Failed(format!("it compiles, and should say: {refusal}")),
        (step, _) => step,
    })
}
