//! Figures for trust that take long to count, as they were counted last.

use crate::{Error, workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

/// What was counted.
#[derive(Default, Serialize, Deserialize)]
pub struct Figures {
    /// Mutants of the specs, by kind of fact.
    pub mutants: BTreeMap<String, Mutants>,
    /// Mutants of the code, by package.
    #[serde(default)]
    pub code: BTreeMap<String, Code>,
    /// Random structures that clang lays out in the same way.
    pub random_structures: Option<u64>,
    /// Runs of fuzz targets.
    pub fuzz: BTreeMap<String, Run>,
}

/// What became of the mutants of a kind.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Mutants {
    /// All that change a layout or a witness.
    pub mutants: u64,
    /// Refused, or different from symbol data.
    pub caught: u64,
    /// Not noticed, for a reason.
    pub survived: u64,
    /// Not noticed, and should be.
    pub missed: u64,
}

/// What became of the mutants of a package that cargo-mutants tried.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Code {
    /// All that it makes, tried or not.
    pub listed: u64,
    /// Noticed by a test, or by a test that did not end.
    pub caught: u64,
    /// Refused by the compiler.
    pub refused: u64,
    /// Not noticed.
    pub missed: u64,
}

/// A run without a finding.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Run {
    /// How long.
    pub seconds: u64,
    /// How many inputs it tried.
    pub inputs: u64,
}

/// Where they are kept.
pub const FILE: &str = "xtask/figures.json";

/// The figures that are committed; none if there is no file yet.
///
/// # Errors
///
/// The file cannot be read.
pub fn read() -> Result<Figures, Error> {
    let text = match fs::read_to_string(workspace::root().join(FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Figures::default()),
        text => text.map_err(|e| format!("{FILE}: {e}"))?,
    };
    Ok(serde_json::from_str(&text).map_err(|e| format!("{FILE}: {e}: run `cargo xtask figures`"))?)
}

/// Keeps figures.
///
/// # Errors
///
/// The file cannot be written.
pub fn write(figures: &Figures) -> Result<(), Error> {
    Ok(fs::write(workspace::root().join(FILE), serde_json::to_string_pretty(figures)? + "\n")?)
}
