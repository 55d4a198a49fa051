//! Programs and Python wheels for each host.

use super::{components_of_wheel, licenses};
use crate::steps::{Run, Step, absent, cargo, command, printed_by, rustup};
use crate::{Error, workspace};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A host of a release, and what its archives are compiled for.
struct Host {
    target: &'static str,
    /// The target of the wheel: Python on Linux is not static.
    wheel: &'static str,
    /// The SDK of the system is necessary, which Zig does not contain.
    needs_sdk: bool,
}

const HOSTS: [Host; 5] = [
    Host { target: "x86_64-unknown-linux-musl", wheel: "x86_64-unknown-linux-gnu", needs_sdk: false },
    Host { target: "aarch64-unknown-linux-musl", wheel: "aarch64-unknown-linux-gnu", needs_sdk: false },
    Host { target: "x86_64-pc-windows-gnu", wheel: "x86_64-pc-windows-gnu", needs_sdk: false },
    Host { target: "x86_64-apple-darwin", wheel: "x86_64-apple-darwin", needs_sdk: true },
    Host { target: "aarch64-apple-darwin", wheel: "aarch64-apple-darwin", needs_sdk: true },
];

pub(super) fn steps(folder: &Path) -> Result<Vec<(String, Run)>, Error> {
    let version = workspace::version()?;
    let mut steps: Vec<(String, Run)> = Vec::new();
    for host in &HOSTS {
        let (folder, version) = (folder.to_owned(), version.clone());
        steps.push((format!("program {}", host.target), Box::new(move || program(host, &version, &folder))));
    }
    for host in &HOSTS {
        let folder = folder.to_owned();
        steps.push((format!("wheel {}", host.wheel), Box::new(move || wheel(host, &folder))));
    }
    let folder = folder.to_owned();
    steps.push(("python source".to_owned(), Box::new(move || source(&folder))));
    Ok(steps)
}

/// Packs a folder. The archives of one commit are equal wherever they are made.
pub(super) fn packed(parent: &Path, name: &str, archive: &Path) -> Result<Step, Error> {
    let (parent, archive) = (parent.display().to_string(), archive.display().to_string());
    let owner = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--use-compress-program=gzip -n"];
    command("tar", &[owner.as_slice(), &["-C", &parent, "-cf", &archive, name]].concat(), &[])
}

/// The program with its licenses and documents, in an archive.
fn program(host: &Host, version: &str, folder: &Path) -> Result<Step, Error> {
    if let Some(why) = missing(host, host.target, "cargo-zigbuild") {
        return Ok(why);
    }
    let build = ["zigbuild", "--quiet", "--release", "-p", "etw-layouts-cli", "--bin", "etw", "--target", host.target];
    let build = cargo(&build, &[("RUSTFLAGS", &without_paths())])?;
    let Step::Passed = build else { return Ok(build) };
    let root = workspace::root();
    let (parent, name) = (root.join("target/release-programs"), format!("etw-{version}-{}", host.target));
    let inside = parent.join(&name);
    if inside.exists() {
        fs::remove_dir_all(&inside)?;
    }
    fs::create_dir_all(&inside)?;
    let file = if host.target.contains("windows") { "etw.exe" } else { "etw" };
    fs::copy(root.join("target").join(host.target).join("release").join(file), inside.join(file))?;
    // README.md refers to the other documents.
    for file in printed_by("git", &["ls-files", "README.md", "CHANGELOG.md", "LICENSE-*", "docs"])?.lines() {
        let copy = inside.join(file);
        fs::create_dir_all(copy.parent().unwrap_or(&inside))?;
        fs::copy(root.join(file), copy)?;
    }
    fs::write(inside.join(licenses::FILE), licenses::of_package("etw-layouts-cli", host.target)?)?;
    packed(&parent, &name, &folder.join(format!("{name}.tar.gz")))
}

fn wheel(host: &Host, folder: &Path) -> Result<Step, Error> {
    if let Some(why) = missing(host, host.wheel, "maturin") {
        return Ok(why);
    }
    let components = folder.join(components_of_wheel(&workspace::version()?)).display().to_string();
    let folder = folder.display().to_string();
    // Wheels for Linux run on systems since glibc 2.17, as PyPI requires.
    let mut options: Vec<&str> = if host.wheel.contains("linux") { vec!["--compatibility", "manylinux2014"] } else { Vec::new() };
    if Path::new(&components).exists() {
        options.extend(["--sbom-include", &components]);
    }
    // With --zig, maturin 1.16 exports `PyInit_etw._etw` on Windows, after the whole name of the module; the function is `PyInit__etw`.
    if host.wheel.contains("windows") {
        if let Some(step) = absent("x86_64-w64-mingw32-gcc", "install MinGW-w64, on Debian: apt install gcc-mingw-w64-x86-64") {
            return Ok(step);
        }
    } else {
        options.push("--zig");
    }
    let build = ["build", "--quiet", "--release", "--target", host.wheel, "-m", "python/Cargo.toml", "--out", &folder];
    // `license-files` in python/pyproject.toml selects the file, and cannot name one outside this folder.
    let licenses = workspace::root().join("python").join(licenses::FILE);
    fs::write(&licenses, licenses::of_package("etw-layouts-python", host.wheel)?)?;
    let built = command("maturin", &[build.as_slice(), &options].concat(), &[("RUSTFLAGS", &without_paths())]);
    fs::remove_file(licenses)?;
    built
}

/// Flags of the compiler without which messages of panics would contain the home folder of who makes the release.
fn without_paths() -> String {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let flags = env::var("RUSTFLAGS").unwrap_or_default();
    home.map_or_else(|| flags.clone(), |home| format!("{flags} --remap-path-prefix={}=cargo", home.display()))
}

/// The source of the Python package, from which pip compiles it on other hosts.
fn source(folder: &Path) -> Result<Step, Error> {
    if let Some(step) = absent("maturin", INSTALL) {
        return Ok(step);
    }
    command("maturin", &["sdist", "-m", "python/Cargo.toml", "--out", &folder.display().to_string()], &[])
}

const INSTALL: &str = "pip install cargo-zigbuild ziglang maturin";

/// What must be installed before a host can be compiled for.
fn missing(host: &Host, target: &str, program: &str) -> Option<Step> {
    if host.needs_sdk && env::var_os("SDKROOT").is_none() {
        return Some(Step::Skipped("SDKROOT is not set; it is the folder of an SDK of macOS".into()));
    }
    if let Some(step) = absent(program, INSTALL) {
        return Some(step);
    }
    let is_installed = rustup(&["target", "list", "--installed"]).iter().any(|line| line == target);
    (!is_installed).then(|| Step::Absent(format!("not installed: rustup target add {target}")))
}
