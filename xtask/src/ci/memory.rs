//! Memory: what Miri interprets, and what runs under AddressSanitizer.

use super::{Run, Step, cargo_of, rustup};
use crate::Error;

const HOST: &str = "x86_64-unknown-linux-gnu";

/// Crates whose memory is watched: the runtime stands under the generated crate, whose tests are those of both.
const CRATES: [&str; 2] = ["etw-layouts", "etw-layouts-etl"];

pub fn steps() -> Vec<(String, Run)> {
    let miri = CRATES.map(|name| (format!("miri {name}"), Box::new(move || miri(name)) as Run));
    let sanitized = ("address sanitizer".to_owned(), Box::new(sanitized) as Run);
    miri.into_iter().chain([sanitized]).collect()
}

fn miri(name: &str) -> Result<Step, Error> {
    if !component("miri") {
        return Ok(Step::Skipped("Miri is not installed: rustup +nightly component add miri rust-src".into()));
    }
    // Tests that read files are told apart in the sources.
    cargo_of("nightly", &["miri", "test", "-q", "-p", name, "--tests"], &[("MIRIFLAGS", "-Zmiri-strict-provenance")])
}

fn sanitized() -> Result<Step, Error> {
    if !component("rustc") {
        return Ok(Step::Skipped("there is no nightly toolchain: rustup toolchain install nightly".into()));
    }
    let args = ["test", "-q", "--tests", "--target", HOST, "-p", CRATES[0], "-p", CRATES[1]];
    cargo_of("nightly", &args, &[("RUSTFLAGS", "-Zsanitizer=address")])
}

fn component(name: &str) -> bool {
    let list = rustup(&["component", "list", "--installed", "--toolchain", "nightly"]);
    list.iter().any(|line| line.starts_with(name))
}
