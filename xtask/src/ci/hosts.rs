//! Supported hosts, and the oldest supported compiler.

use crate::hosts::{HOSTS, ValueForm};
use crate::steps::{Run, Step, cargo, cargo_of, rustup};
use crate::{Error, workspace};

pub(super) fn steps() -> Vec<(String, Run)> {
    let mut steps: Vec<(String, Run)> = Vec::new();
    for (host, holds) in HOSTS {
        match holds {
            ValueForm::Tests => steps.push((format!("host {host}"), Box::new(move || on_installed(host, || tested(host))))),
            ValueForm::Compiles => {}
            ValueForm::Refuses(words) => {
                steps.push((format!("host {host}"), Box::new(move || on_installed(host, || refused(host, words)))));
            }
        }
    }
    steps.push(("hosts to compile for".into(), Box::new(compiled)));
    steps.push(("oldest compiler".into(), Box::new(oldest)));
    steps
}

fn on_installed(host: &str, check: impl Fn() -> Result<Step, Error>) -> Result<Step, Error> {
    if installed(host) { check() } else { Ok(Step::Absent(missing(&[host]))) }
}

fn installed(host: &str) -> bool {
    rustup(&["target", "list", "--installed"]).iter().any(|line| line == host)
}

fn missing(hosts: &[&str]) -> String {
    format!("not installed: rustup target add {}", hosts.join(" "))
}

/// Tests only these crates, because the tests of other crates compile C code.
fn tested(host: &str) -> Result<Step, Error> {
    cargo(&["test", "-q", "-p", "etw-layouts", "-p", "etw-layouts-etl", "--tests", "--target", host], &[])
}

/// Checks the crates without the standard library for several hosts at once, because each check uses only one processor.
fn check(hosts: &[&str]) -> Result<Step, Error> {
    let crates = ["check", "-q", "-p", "etw-layouts", "-p", "etw-layouts-memory", "--no-default-features"];
    let targets = hosts.iter().flat_map(|host| ["--target", host]);
    cargo(&crates.into_iter().chain(targets).collect::<Vec<_>>(), &[])
}

/// A host of consumers whose pointers have 32 bits: its EVENT_RECORD differs from that of this host.
const CONSUMERS: &str = "i686-pc-windows-msvc";

fn compiled() -> Result<Step, Error> {
    let all = HOSTS.iter().filter(|(_, holds)| *holds == ValueForm::Compiles).map(|(host, _)| *host);
    let (present, absent): (Vec<_>, Vec<_>) = all.partition(|host| installed(host));
    let mut step = if present.is_empty() { Step::Passed } else { check(&present)? };
    if matches!(step, Step::Passed) && present.contains(&CONSUMERS) {
        step = cargo(&["check", "-q", "-p", "etw-layouts-record", "--target", CONSUMERS], &[])?;
    }
    Ok(match step {
        Step::Passed if !absent.is_empty() => Step::Absent(missing(&absent)),
        step => step,
    })
}

fn refused(host: &str, words: &str) -> Result<Step, Error> {
    Ok(match check(&[host])? {
        Step::Failed(text) if text.contains(words) => Step::Passed,
        Step::Passed => Step::Failed(format!("it compiles, but should fail with: {words}")),
        step => step,
    })
}

/// The manifest that states the oldest supported version of Rust: that of the crates that others embed.
const EMBEDDED: &str = "generated/Cargo.toml";

/// Checks that these crates, with the features for readers of traces, compile with the oldest version. Other crates may need a
/// newer one.
fn oldest() -> Result<Step, Error> {
    let manifest = std::fs::read_to_string(workspace::root().join(EMBEDDED))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = line.ok_or("generated/Cargo.toml states no rust-version")?.trim_matches('"');
    let is = |name: &str| name.strip_prefix(oldest).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']));
    let Some(toolchain) = rustup(&["toolchain", "list"]).into_iter().find(|name| is(name)) else {
        return Ok(Step::Absent(format!("Rust {oldest} is not installed: rustup toolchain install {oldest}")));
    };
    let toolchain = toolchain.split(' ').next().unwrap_or_default();
    let folder = workspace::root().join("target/oldest").display().to_string();
    let crates = ["check", "-q", "-p", "etw-layouts", "--no-default-features", "--features", "events trace"];
    cargo_of(toolchain, &crates, &[("CARGO_TARGET_DIR", &folder)])
}
