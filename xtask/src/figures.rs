//! `cargo xtask figures`.

use crate::record::{self, Code, Figures, Mutants};
use crate::{Error, Outcome, generate, workspace};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Count what docs/TRUST.md states and takes long to count: mutants of the specs, random structures held against clang.
///
/// Writes xtask/figures.json, and the page from it; `cargo xtask fuzz --record` does so for the runs of fuzz targets. What has no tool
/// here keeps its figure, and is named.
///
/// Exit status: 0 done, 1 a count is not what it should be and nothing was written, 2 a command cannot be run.
#[derive(clap::Args)]
pub struct Args {
    /// Record outcomes.json of cargo-mutants, and count nothing else.
    ///
    /// The figures of the packages in it are replaced.
    #[arg(long, value_name = "FILE")]
    code: Vec<PathBuf>,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let mut figures = record::read()?;
    if !args.code.is_empty() {
        code(&args.code, &mut figures)?;
        return generate::commit(&figures);
    }
    figures.mutants = mutants()?;
    match random_structures()? {
        Some(count) => figures.random_structures = Some(count),
        None => anstream::println!("random structures: not counted: clang is not installed, or there is no such test"),
    }
    if figures.mutants.values().any(|count| count.missed > 0) {
        anstream::println!("mutants are missed: `cargo xtask mutants` names them");
        return Ok(Outcome::Differs);
    }
    generate::commit(&figures)
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
    let output = Command::new(cargo).args(args).current_dir(workspace::root()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let count = |line: &str| line.split_once(" structures ")?.0.rsplit(' ').next()?.parse().ok();
    Ok(text.lines().find_map(count))
}

/// What cargo-mutants found of each package.
fn code(files: &[PathBuf], figures: &mut Figures) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct Document {
        outcomes: Vec<Tried>,
    }
    #[derive(Deserialize)]
    struct Tried {
        scenario: Scenario,
        summary: String,
    }
    #[derive(Deserialize)]
    enum Scenario {
        Baseline,
        Mutant { package: String },
    }
    let mut found: BTreeMap<String, Code> = BTreeMap::new();
    for file in files {
        let bad = |error: String| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let document: Document = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        for Tried { scenario, summary } in document.outcomes {
            let Scenario::Mutant { package } = scenario else { continue };
            let count = found.entry(package).or_default();
            match summary.as_str() {
                "CaughtMutant" | "Timeout" => count.caught += 1,
                "Unviable" => count.refused += 1,
                "MissedMutant" => count.missed += 1,
                other => return Err(bad(format!("unknown outcome `{other}`")).into()),
            }
        }
    }
    for (package, count) in found {
        let listed = listed(&package)?;
        figures.code.insert(package, Code { listed, ..count });
    }
    Ok(())
}

/// How many mutants cargo-mutants makes of a package.
fn listed(package: &str) -> Result<u64, Error> {
    let output =
        Command::new("cargo").args(["mutants", "--list", "--package", package]).current_dir(workspace::root()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().count() as u64)
}
