//! Memory checks: Miri and AddressSanitizer.

use super::{Run, Step, nightly, rustup};
use crate::Error;

const HOST: &str = "x86_64-unknown-linux-gnu";

/// Crates with `unsafe` code, their test binary, and the tests for Miri: only those that reach `unsafe` code, as Miri is a
/// thousand times slower than native code. The tests of the generated crate also cover the runtime. Tests that measure the memory
/// of their process are in separate binaries, because they would measure that of the tool.
const TESTS: [(&str, &str, &str); 2] = [("etw-layouts", "layouts", ""), ("etw-layouts-etl", "etl", "xpress::")];

pub fn steps() -> Vec<(String, Run)> {
    let miri = TESTS.map(|(name, test, of)| (format!("miri {name}"), Box::new(move || miri(name, test, of)) as Run));
    let sanitized = ("address sanitizer".to_owned(), Box::new(sanitized) as Run);
    miri.into_iter().chain([sanitized]).collect()
}

fn miri(name: &str, test: &str, of: &str) -> Result<Step, Error> {
    if !component("miri") {
        return Ok(Step::Absent("Miri is not installed: rustup +nightly component add miri rust-src".into()));
    }
    let flags = [("MIRIFLAGS", "-Zmiri-strict-provenance")];
    nightly(&["miri", "test", "-q", "-p", name, "--test", test, "--", of], &flags)
}

fn sanitized() -> Result<Step, Error> {
    if !component("rustc") {
        return Ok(Step::Absent("the nightly toolchain is not installed: rustup toolchain install nightly".into()));
    }
    let mut args = vec!["test", "-q", "--target", HOST];
    args.extend(TESTS.iter().flat_map(|(name, test, _)| ["-p", *name, "--test", *test]));
    nightly(&args, &[("RUSTFLAGS", "-Zsanitizer=address")])
}

fn component(name: &str) -> bool {
    let list = rustup(&["component", "list", "--installed", "--toolchain", "nightly"]);
    list.iter().any(|line| line.starts_with(name))
}
