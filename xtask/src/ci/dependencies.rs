//! Dependencies: licenses, duplicates and sources by `deny.toml`, and known vulnerabilities.

use crate::Error;
use crate::steps::{Run, Step, absent, command};

pub fn steps() -> Vec<(String, Run)> {
    let step = |name: &str, run: fn() -> Result<Step, Error>| (name.to_owned(), Box::new(run) as Run);
    vec![step("dependencies", allowed), step("advisories", advisories)]
}

fn allowed() -> Result<Step, Error> {
    match missing() {
        Some(step) => Ok(step),
        None => command("cargo-deny", &["check", "licenses", "bans", "sources"], &[]),
    }
}

fn advisories() -> Result<Step, Error> {
    if let Some(step) = missing() {
        return Ok(step);
    }
    Ok(match command("cargo-deny", &["check", "advisories"], &[])? {
        Step::Failed(text) if text.contains("failed to fetch advisory database") => {
            Step::Skipped("the advisory database of RustSec cannot be reached".into())
        }
        step => step,
    })
}

fn missing() -> Option<Step> {
    absent("cargo-deny", "cargo install cargo-deny --locked")
}
