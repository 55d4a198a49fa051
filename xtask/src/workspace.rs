//! The workspace: its folders, and the project in it.

use crate::Error;
use etw_layouts_project::Project;
use std::path::PathBuf;
use std::{env, fs};

/// Folder of the generated sources.
pub const GENERATED: &str = "generated/src";

/// The root of the workspace: that of the package that cargo runs, otherwise that of the compiled source.
pub fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().unwrap_or(&manifest).to_owned()
}

/// The specs and facts of the workspace.
pub fn project() -> Project {
    Project::at(root())
}

/// The version of all crates.
pub fn version() -> Result<String, Error> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = ")).ok_or("Cargo.toml states no version")?;
    Ok(line.trim_matches('"').to_owned())
}
