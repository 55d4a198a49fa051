//! `cargo xtask figures`.

use crate::{Error, Outcome, generate, project};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;

/// Count what the README states and takes long to count: mutants of the specs, random structures held against clang.
///
/// Writes tests/figures.json, and the README from it; `cargo xtask fuzz --record` does so for the runs of fuzz targets. What has no tool
/// here keeps its figure, and is named.
///
/// Exit status: 0 done, 1 a count is not what it should be and nothing was written, 2 a command cannot be run.
#[derive(clap::Args)]
pub struct Args {}

/// What was counted.
#[derive(Default, Serialize, Deserialize)]
pub struct Figures {
    /// Mutants of the specs, by kind of fact.
    pub mutants: BTreeMap<String, Mutants>,
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

/// A run without a finding.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Run {
    /// How long.
    pub seconds: u64,
    /// How many inputs it tried.
    pub inputs: u64,
}

/// Where they are kept.
const FILE: &str = "tests/figures.json";

pub fn run(_: &Args) -> Result<Outcome, Error> {
    let mut figures = read()?;
    figures.mutants = mutants()?;
    match random_structures()? {
        Some(count) => figures.random_structures = Some(count),
        None => anstream::println!("random structures: not counted: clang is not installed, or there is no such test"),
    }
    if figures.mutants.values().any(|count| count.missed > 0) {
        anstream::println!("mutants are missed: `cargo xtask mutants` names them");
        return Ok(Outcome::Differs);
    }
    commit(&figures)
}

/// Writes figures to their file, and the README from them.
///
/// # Errors
///
/// A file cannot be written.
pub fn commit(figures: &Figures) -> Result<Outcome, Error> {
    write(figures)?;
    let count = generate::refresh(&project::layouts()?)?;
    anstream::println!("{FILE} written; {count} generated files written or removed");
    Ok(Outcome::Good)
}

/// The figures that are committed; none if there is no file yet.
///
/// # Errors
///
/// The file cannot be read.
pub fn read() -> Result<Figures, Error> {
    let text = match fs::read_to_string(project::root().join(FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Figures::default()),
        text => text.map_err(|e| format!("{FILE}: {e}"))?,
    };
    Ok(serde_json::from_str(&text).map_err(|e| format!("{FILE}: {e}: run `cargo xtask figures`"))?)
}

fn write(figures: &Figures) -> Result<(), Error> {
    Ok(fs::write(project::root().join(FILE), serde_json::to_string_pretty(figures)? + "\n")?)
}

/// The counts that `cargo xtask mutants` prints.
fn mutants() -> Result<BTreeMap<String, Mutants>, Error> {
    #[derive(Deserialize)]
    struct Document {
        kinds: BTreeMap<String, Count>,
    }
    #[derive(Deserialize)]
    struct Count {
        mutants: u64,
        refused: u64,
        differs: u64,
        survived: u64,
        missed: u64,
    }
    let output = Command::new(std::env::current_exe()?).args(["mutants", "--format", "json"]).output()?;
    if output.stdout.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let document: Document = serde_json::from_slice(&output.stdout)?;
    let counted =
        |Count { mutants, refused, differs, survived, missed }| Mutants { mutants, caught: refused + differs, survived, missed };
    Ok(document.kinds.into_iter().map(|(kind, count)| (kind, counted(count))).collect())
}

/// How many structures the property test of the layout engine says that it compared; `None` if it was skipped.
fn random_structures() -> Result<Option<u64>, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let args = ["test", "-q", "-p", "tests", "--test", "tests", "layout_engine", "--", "--nocapture"];
    let output = Command::new(cargo).args(args).current_dir(project::root()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let count = |line: &str| line.split_once(" structures ")?.0.rsplit(' ').next()?.parse().ok();
    Ok(text.lines().find_map(count))
}
