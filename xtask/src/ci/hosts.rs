//! Hosts that the crates are for, and the oldest compiler.

use super::{Run, Step, cargo, cargo_of, rustup};
use crate::hosts::{HOSTS, Holds};
use crate::{Error, workspace};

pub fn steps() -> Vec<(String, Run)> {
    let host = |(host, holds): (&'static str, Holds)| (format!("host {host}"), Box::new(move || check(host, holds)) as Run);
    let mut steps: Vec<_> = HOSTS.map(host).into();
    steps.push(("oldest compiler".into(), Box::new(oldest)));
    steps
}

fn check(host: &str, holds: Holds) -> Result<Step, Error> {
    if !rustup(&["target", "list", "--installed"]).iter().any(|line| line == host) {
        return Ok(Step::Skipped(format!("the target is not installed: rustup target add {host}")));
    }
    // What needs no standard library.
    let compiles = || {
        let crates = ["-p", "etw-layouts", "-p", "etw-layouts-memory", "--no-default-features"];
        cargo(&[&["check", "-q"], &crates[..], &["--target", host]].concat(), &[])
    };
    match holds {
        // C is only compiled for the tests of other crates.
        Holds::Tests => cargo(&["test", "-q", "-p", "etw-layouts", "-p", "etw-layouts-etl", "--tests", "--target", host], &[]),
        Holds::Compiles => compiles(),
        Holds::Refuses(words) => Ok(match compiles()? {
            Step::Failed(text) if text.contains(words) => Step::Passed,
            Step::Passed => Step::Failed(format!("it compiles, and should say: {words}")),
            step => step,
        }),
    }
}

/// Everything compiles with the compiler that Cargo.toml names as the oldest.
fn oldest() -> Result<Step, Error> {
    let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = line.ok_or("Cargo.toml states no rust-version")?.trim_matches('"');
    let is = |name: &str| name.strip_prefix(oldest).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']));
    match rustup(&["toolchain", "list"]).iter().filter_map(|line| line.split(' ').next()).find(|name| is(name)) {
        Some(toolchain) => cargo_of(toolchain, &["check", "-q", "--workspace", "--all-targets"], &[]),
        None => Ok(Step::Skipped(format!("Rust {oldest} is not installed: rustup toolchain install {oldest}"))),
    }
}
