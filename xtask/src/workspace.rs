//! The workspace: its folders, and the project in it.

use etw_layouts_project::Project;
use std::env;
use std::path::PathBuf;

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
