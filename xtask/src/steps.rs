//! Steps of a task: each runs commands, and is reported with its time.

use crate::{Error, workspace};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// Result of a step.
pub enum Step {
    Passed,
    Failed(String),
    /// A tool is not installed; the text has the installation command.
    Absent(String),
    Skipped(String),
}

pub type Run = Box<dyn Fn() -> Result<Step, Error> + Send + Sync>;

/// Steps that did not pass, by name.
#[derive(Default)]
pub struct Unpassed<'a> {
    pub failed: Vec<&'a str>,
    pub skipped: Vec<&'a str>,
}

/// Keeps the steps whose name contains a text; all without one. The error states all names, also those of `others`.
pub fn choose(steps: &mut Vec<(String, Run)>, others: &mut Vec<(String, Run)>, only: Option<&str>) -> Result<(), String> {
    let Some(only) = only else { return Ok(()) };
    let names: Vec<_> = steps.iter().chain(&*others).map(|(name, _)| name.clone()).collect();
    for list in [steps, others] {
        list.retain(|(name, _)| name.contains(only));
    }
    match names.iter().any(|name| name.contains(only)) {
        true => Ok(()),
        false => Err(format!("no step matches `{only}`; the steps are {}", names.join(", "))),
    }
}

/// A step without its program, if it is not installed; `install` is the command that installs it.
pub fn absent(program: &str, install: &str) -> Option<Step> {
    let present = Command::new(program).arg("--version").output().is_ok();
    (!present).then(|| Step::Absent(format!("{program} is not installed: {install}")))
}

/// Runs steps in order, and reports each.
pub fn in_turn(steps: &[(String, Run)]) -> Unpassed<'_> {
    let required = std::env::var("ETW_LAYOUTS_REQUIRED").is_ok_and(|names| names.split_whitespace().any(|name| name == "tools"));
    let mut unpassed = Unpassed::default();
    for (name, step) in steps {
        let start = Instant::now();
        let step = match step().unwrap_or_else(|error| Step::Failed(error.to_string())) {
            Step::Absent(why) if required => Step::Failed(why),
            step => step,
        };
        let word = match step {
            Step::Passed => "passed".to_owned(),
            Step::Absent(why) | Step::Skipped(why) => {
                unpassed.skipped.push(name.as_str());
                format!("skipped: {why}")
            }
            Step::Failed(why) => {
                unpassed.failed.push(name.as_str());
                format!("FAILED\n{why}")
            }
        };
        anstream::println!("{name:34} {:6.1} s  {word}", start.elapsed().as_secs_f64());
    }
    unpassed
}

pub fn cargo(args: &[&str], environment: &[(&str, &str)]) -> Result<Step, Error> {
    command(&std::env::var("CARGO").unwrap_or("cargo".into()), args, environment)
}

/// A cargo command of another toolchain.
pub fn cargo_of(toolchain: &str, args: &[&str], environment: &[(&str, &str)]) -> Result<Step, Error> {
    command("rustup", &[&["run", toolchain, "cargo"], args].concat(), environment)
}

/// The packages in `cargo metadata` with further arguments, with the members that `T` has.
pub fn packages<T: DeserializeOwned>(args: &[&str]) -> Result<Vec<T>, Error> {
    #[derive(Deserialize)]
    struct Metadata<T> {
        packages: Vec<T>,
    }
    let printed = printed(&[&["metadata", "--locked", "--format-version", "1"], args].concat())?;
    Ok(serde_json::from_str::<Metadata<T>>(&printed)?.packages)
}

/// What a cargo command prints on standard output.
pub fn printed(args: &[&str]) -> Result<String, Error> {
    printed_by(&std::env::var("CARGO").unwrap_or("cargo".into()), args)
}

/// What a program prints on standard output.
pub fn printed_by(program: &str, args: &[&str]) -> Result<String, Error> {
    let output = output(program, args, &[])?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

/// A step that runs a command in the root, and shows its output on failure.
pub fn command(program: &str, args: &[&str], environment: &[(&str, &str)]) -> Result<Step, Error> {
    let (succeeded, text) = both(program, args, environment)?;
    Ok(if succeeded { Step::Passed } else { Step::Failed(text) })
}

/// Whether a command in the root succeeds, and what it prints: errors before results.
pub fn both(program: &str, args: &[&str], environment: &[(&str, &str)]) -> Result<(bool, String), Error> {
    let output = output(program, args, environment)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    Ok((output.status.success(), text))
}

fn output(program: &str, args: &[&str], environment: &[(&str, &str)]) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.args(args).current_dir(workspace::root()).stdin(Stdio::null()).envs(environment.iter().copied());
    // `cargo run` sets this variable for xtask. With it, build scripts that depend on it would run again.
    command.env_remove("CARGO_MANIFEST_DIR");
    command.output()
}

/// The lines that `rustup` prints; empty without `rustup`.
pub fn rustup(args: &[&str]) -> Vec<String> {
    let output = Command::new("rustup").args(args).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()).unwrap_or_default()
}
