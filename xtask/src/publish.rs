//! `cargo xtask publish`.

use crate::steps::{Step, absent, both, packages, printed_by};
use crate::{Error, Outcome, workspace};
use serde::Deserialize;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

/// Publish the crates on crates.io, and the Python packages on PyPI.
///
///     cargo xtask publish target/release-files
///
/// The tokens are in CARGO_REGISTRY_TOKEN and MATURIN_PYPI_TOKEN. DIR is the folder that `cargo xtask release` wrote. Crates are published in the order of their dependencies. Crates and packages of
/// this version that are already published are skipped, so the command can be repeated after an error. crates.io accepts 5 new crates at once,
/// and then one every 10 minutes; the command waits, so the first release takes hours. help@crates.io raises this limit on request.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the release.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only print what would be published.
    #[arg(long)]
    dry_run: bool,
}

/// How long crates.io asks to wait between new crates: <https://crates.io/docs/rate-limits>.
const INTERVAL: Duration = Duration::from_secs(600);

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let wheels = wheels(args)?;
    let crates = ordered(packages(&["--no-deps"])?)?;
    if args.dry_run {
        anstream::println!("crates, in this order: {}\nPython packages: {}", crates.join(", "), wheels.join(", "));
        return Ok(Outcome::Good);
    }
    let tag = format!("v{}", workspace::version()?);
    let has_tag = printed_by("git", &["tag", "--points-at", "HEAD"])?.lines().any(|line| line == tag);
    if !has_tag || !printed_by("git", &["status", "--porcelain"])?.is_empty() {
        return Err(format!("the files are not those of tag {tag}; run: git tag {tag}, or git checkout {tag}").into());
    }
    if let Some(Step::Absent(why)) = absent("maturin", "pip install maturin") {
        return Err(why.into());
    }
    for (at, name) in crates.iter().enumerate() {
        anstream::println!("{} of {}  {name}: {}", at + 1, crates.len(), published(name)?);
    }
    let mut upload = vec!["upload", "--non-interactive", "--skip-existing"];
    upload.extend(wheels.iter().map(String::as_str));
    let (succeeded, text) = both("maturin", &upload, &[])?;
    if !succeeded {
        return Err(text.into());
    }
    anstream::println!("Python packages: {} published", wheels.len());
    Ok(Outcome::Good)
}

/// The Python packages of this version in the folder.
fn wheels(args: &Args) -> Result<Vec<String>, Error> {
    let folder = fs::canonicalize(&args.folder).map_err(|error| format!("{}: {error}", args.folder.display()))?;
    let name = format!("etw_layouts-{}", workspace::version()?);
    let (source, wheel) = (format!("{name}.tar.gz"), format!("{name}-"));
    let mut packages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name == source || name.starts_with(&wheel) && name.ends_with(".whl") {
            packages.push(folder.join(name).display().to_string());
        }
    }
    if packages.is_empty() {
        return Err(format!(
            "{}: no Python packages of version {}; run: cargo xtask release -o {0}",
            folder.display(),
            workspace::version()?
        )
        .into());
    }
    packages.sort();
    Ok(packages)
}

/// Publishes a crate; returns what happened.
fn published(name: &str) -> Result<&'static str, Error> {
    let cargo = env::var("CARGO").unwrap_or("cargo".into());
    loop {
        // The step `packages` of `cargo xtask release` has compiled the contents of the package.
        let (succeeded, text) = both(&cargo, &["publish", "--locked", "--no-verify", "-p", name], &[])?;
        if succeeded {
            return Ok("published");
        }
        if text.contains("already exists on") {
            return Ok("already published");
        }
        if !text.contains("429 Too Many Requests") {
            return Err(text.into());
        }
        anstream::println!("{name}: crates.io accepts no more new crates now; waiting for {} minutes", INTERVAL.as_secs() / 60);
        sleep(INTERVAL);
    }
}

/// A package in `cargo metadata`.
#[derive(Deserialize)]
struct Package {
    name: String,
    /// Registries; none for packages that are not published, and no list for packages that are.
    publish: Option<Vec<String>>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    path: Option<String>,
    req: String,
}

/// The names of published crates, dependencies first.
fn ordered(packages: Vec<Package>) -> Result<Vec<String>, String> {
    let mut left: Vec<_> = packages.into_iter().filter(|package| package.publish.is_none()).collect();
    let mut names = Vec::new();
    while !left.is_empty() {
        // Packages do not contain development dependencies without a version, whose requirement is `*`.
        let waits =
            |dependency: &Dependency| dependency.path.is_some() && dependency.req != "*" && !names.contains(&dependency.name);
        let (later, next): (Vec<_>, Vec<_>) = left.into_iter().partition(|package| package.dependencies.iter().any(waits));
        if next.is_empty() {
            let later: Vec<_> = later.iter().map(|package| package.name.as_str()).collect();
            return Err(format!("crates depend on each other, or on crates that are not published: {}", later.join(", ")));
        }
        names.extend(next.into_iter().map(|package| package.name));
        left = later;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn dependencies_are_published_first() {
        let order = |text: &str| ordered(serde_json::from_str(text).unwrap());
        let metadata = r#"[
            { "name": "program", "publish": null, "dependencies": [{ "name": "library", "path": "/library", "req": "^0.1.0" }] },
            { "name": "library", "publish": null, "dependencies": [
                { "name": "serde", "path": null, "req": "^1" },
                { "name": "program", "path": "/program", "req": "*" },
                { "name": "tests", "path": "/tests", "req": "*" }] },
            { "name": "tests", "publish": [], "dependencies": [] } ]"#;
        assert_eq!(order(metadata).as_deref(), Ok(["library".to_owned(), "program".to_owned()].as_slice()));
        let metadata = metadata.replace(r#""path": "/tests", "req": "*""#, r#""path": "/tests", "req": "^0.1.0""#);
        let message = "crates depend on each other, or on crates that are not published: program, library";
        assert_eq!(order(&metadata).unwrap_err(), message);
    }
}
