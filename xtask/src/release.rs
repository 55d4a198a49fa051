//! `cargo xtask release`.

mod archives;
mod licenses;
mod notes;

use crate::ci::packages;
use crate::steps::{Run, Step, absent, cargo, choose, in_turn, printed_by};
use crate::{Error, Outcome, site, workspace};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Make the files of a release: packages, programs, Python wheels, the website, a list of components, notes and checksums.
///
///     cargo xtask release -o target/release-files
///
/// It changes nothing in the workspace and publishes nothing. Its last line is the command that publishes. Programs and wheels for other hosts
/// are compiled with Zig: pip install cargo-zigbuild ziglang maturin. The wheel for Windows is compiled with MinGW-w64.
///
/// Exit status: 0 all steps passed, 1 a step failed, 2 no step matches.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write the files to this folder; it is created if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Run only the steps whose name contains this text, such as `notes` or `x86_64-unknown-linux`.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    fs::create_dir_all(&args.output)?;
    let folder = fs::canonicalize(&args.output)?;
    if args.only.is_none() && fs::read_dir(&folder)?.next().is_some() {
        return Err(
            format!("{} is not empty; name a new folder, because SHA256SUMS lists all its files", folder.display()).into()
        );
    }
    let (mut checks, mut files) = (checks(&folder), files(&folder)?);
    choose(&mut checks, &mut files, args.only.as_deref())?;
    let mut skipped = Vec::new();
    // Programs take an hour. They are not compiled if a check fails.
    for steps in [&checks, &files] {
        let unpassed = in_turn(steps);
        if !unpassed.failed.is_empty() {
            anstream::println!("failed: {}", unpassed.failed.join(", "));
            return Ok(Outcome::Differs);
        }
        skipped.extend(unpassed.skipped);
    }
    let count = checksums(&folder)?;
    anstream::println!("{count} files and {SUMS} in {}", folder.display());
    if !skipped.is_empty() {
        anstream::println!("skipped, for the reasons above: {}", skipped.join(", "));
    }
    if args.only.is_none() {
        let version = workspace::version()?;
        let folder = args.output.display();
        anstream::println!("publish: git tag v{version} && git push origin v{version} && cargo xtask publish {folder}");
    }
    Ok(Outcome::Good)
}

/// What must be true of a release; and its notes.
fn checks(folder: &Path) -> Vec<(String, Run)> {
    vec![
        step("commit", folder, |_| committed()),
        step("packages", folder, |_| packages::complete()),
        step("semantic versions", folder, |_| compatible()),
        step("notes", folder, notes::written),
    ]
}

fn files(folder: &Path) -> Result<Vec<(String, Run)>, Error> {
    let mut steps = vec![step("components", folder, components)];
    steps.extend(archives::steps(folder)?);
    steps.push(step("site", folder, website));
    Ok(steps)
}

fn step(name: &str, folder: &Path, run: fn(&Path) -> Result<Step, Error>) -> (String, Run) {
    let folder = folder.to_owned();
    (name.to_owned(), Box::new(move || run(&folder)))
}

/// A release is made from a commit that has no tag of this version.
fn committed() -> Result<Step, Error> {
    let tag = format!("v{}", workspace::version()?);
    if !printed_by("git", &["status", "--porcelain"])?.is_empty() {
        return Ok(Step::Failed("there are changes that are not committed; commit or stash them".into()));
    }
    let tagged = printed_by("git", &["tag", "--list", &tag])?;
    Ok(match tagged.is_empty() {
        true => Step::Passed,
        false => Step::Failed(format!("tag {tag} exists; increase `version` in Cargo.toml")),
    })
}

/// Compares the public interfaces with those of the last tag.
fn compatible() -> Result<Step, Error> {
    let tags = printed_by("git", &["tag", "--list", "v*", "--sort=-v:refname"])?;
    let Some(last) = tags.lines().next() else {
        return Ok(Step::Skipped("no earlier release to compare with".into()));
    };
    if let Some(step) = absent("cargo-semver-checks", "cargo install cargo-semver-checks --locked") {
        return Ok(step);
    }
    cargo(&["semver-checks", "--workspace", "--baseline-rev", last], &[])
}

/// Writes the components of the program and of the Python package, with versions, licenses and checksums, in the format CycloneDX (an SBOM).
fn components(folder: &Path) -> Result<Step, Error> {
    if let Some(step) = absent("cargo-cyclonedx", "cargo install cargo-cyclonedx --locked") {
        return Ok(step);
    }
    let step = cargo(&["cyclonedx", "--format", "json", "--spec-version", "1.5", "--override-filename", SBOM], &[])?;
    let (name, version) = (format!("{SBOM}.json"), workspace::version()?);
    let root = format!("file://{}", workspace::root().display());
    // The command writes a file beside the manifest of each member.
    for path in printed_by("git", &["ls-files", "--others", "--exclude-standard", "--", &format!("*{name}")])?.lines() {
        let path = workspace::root().join(path);
        for (member, file) in [("etw", format!("etw-{version}.cdx.json")), ("python", components_of_wheel(&version))] {
            if path.ends_with(Path::new(member).join(&name)) {
                fs::write(folder.join(file), fs::read_to_string(&path)?.replace(&root, "file://."))?;
            }
        }
        fs::remove_file(path)?;
    }
    Ok(step)
}

/// The name of the file with components, without its extension.
const SBOM: &str = "components.cdx";

/// The file with the components of the Python package, which wheels contain.
fn components_of_wheel(version: &str) -> String {
    format!("etw_layouts-{version}.cdx.json")
}

fn website(folder: &Path) -> Result<Step, Error> {
    let (version, parent) = (workspace::version()?, workspace::root().join("target/release-site"));
    if parent.exists() {
        fs::remove_dir_all(&parent)?;
    }
    let name = format!("etw-site-{version}");
    site::write(&parent.join(&name))?;
    archives::packed(&parent, &name, &folder.join(format!("{name}.tar.gz")))
}

/// Writes the SHA-256 hashes of all files. Returns how many.
fn checksums(folder: &Path) -> Result<usize, Error> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != SUMS {
            names.push(name);
        }
    }
    names.sort();
    let mut text = String::new();
    for name in &names {
        let hex: String = Sha256::digest(fs::read(folder.join(name))?).iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{hex}  {name}\n");
    }
    fs::write(folder.join(SUMS), text)?;
    Ok(names.len())
}

const SUMS: &str = "SHA256SUMS";
