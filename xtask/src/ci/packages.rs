//! Packages: verifies that published crates compile, and contain their licenses.

use crate::steps::{Step, cargo, command};
use crate::{Error, workspace};
use std::fs;

/// Checks that the public crates compile from the contents of their packages, which contain the texts of their licenses.
///
/// `cargo package` itself would compile each crate once as a package, and once for each package that depends on it.
pub fn complete() -> Result<Step, Error> {
    let manifest = fs::read_to_string(workspace::root().join("Cargo.toml"))?;
    let table = manifest.split("[workspace.dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
    let names: Vec<&str> = (table.lines().filter(|line| line.contains("path = ")))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .collect();
    let chosen = names.iter().flat_map(|name| ["-p", name]);
    let packed =
        cargo(&["package", "--quiet", "--no-verify", "--allow-dirty"].into_iter().chain(chosen).collect::<Vec<_>>(), &[])?;
    let Step::Passed = packed else { return Ok(packed) };

    let version = workspace::version()?;
    let packages: Vec<_> = names.iter().map(|name| (name, format!("{name}-{}", version))).collect();
    let target = workspace::root().join("target");
    let folder = target.join("package/unpacked");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for (_, package) in &packages {
        let archive = format!("{}/package/{package}.crate", target.display());
        // Packages have a fixed modification time for all files. With the current time instead, cargo recompiles only changes.
        let unpacked = command("tar", &["-xmzf", &archive, "-C", &folder.display().to_string()], &[])?;
        let Step::Passed = unpacked else { return Ok(unpacked) };
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            if !folder.join(package).join(license).exists() {
                return Ok(Step::Failed(format!("{package}: no {license}; run in its folder: ln -s ../{license}")));
            }
        }
    }
    // The profiles of the workspace are used, so that dependencies are compiled only once.
    let profiles = manifest.find("[profile.").map_or("", |at| &manifest[at..]);
    let members: String = packages.iter().map(|(_, package)| format!("{package:?}, ")).collect();
    let patches: String = packages.iter().map(|(name, package)| format!("{name} = {{ path = {package:?} }}\n")).collect();
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n\n[patch.crates-io]\n{patches}\n{profiles}");
    fs::write(folder.join("Cargo.toml"), workspace)?;
    fs::copy(workspace::root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let (its, target) = (folder.join("Cargo.toml").display().to_string(), target.display().to_string());
    cargo(&["check", "--quiet", "--offline", "--workspace", "--manifest-path", &its, "--target-dir", &target], &[])
}
