//! Memory checks by Miri. The fuzz targets run with AddressSanitizer.

use super::nightly;
use crate::Error;
use crate::steps::{Run, Step, rustup};

/// Crates with `unsafe` code, their test binary, and the tests for Miri: only tests that reach `unsafe` code, as Miri is a
/// thousand times slower than native code. The tests of the generated crate also cover the runtime. Tests that measure the memory
/// of their process are in separate binaries, because under Miri they would measure the memory of Miri.
const TESTS: [(&str, &str, &str); 2] = [("etw-layouts", "layouts", ""), ("etw-layouts-etl", "etl", "xpress::")];

pub fn steps() -> Vec<(String, Run)> {
    TESTS.map(|(name, test, of)| (format!("miri {name}"), Box::new(move || miri(name, test, of)) as Run)).into()
}

fn miri(name: &str, test: &str, of: &str) -> Result<Step, Error> {
    if !component("miri") {
        return Ok(Step::Absent("Miri is not installed: rustup +nightly component add miri rust-src".into()));
    }
    let flags = [("MIRIFLAGS", "-Zmiri-strict-provenance")];
    nightly(&["miri", "test", "-q", "-p", name, "--test", test, "--", of], &flags)
}

fn component(name: &str) -> bool {
    let list = rustup(&["component", "list", "--installed", "--toolchain", "nightly"]);
    list.iter().any(|line| line.starts_with(name))
}
