//! Shared code of the tests of the whole pipeline, and tests of the examples in handwritten pages.

use etw_layouts_project::Project;
use std::path::{Path, PathBuf};

#[doc = include_str!("../README.md")]
pub struct Readme;

#[doc = include_str!("../docs/LIBRARY.md")]
pub struct Library;

#[doc = include_str!("../docs/SENSORS.md")]
pub struct Sensors;

#[doc = include_str!("../docs/OWN-SPECS.md")]
pub struct OwnSpecs;

#[doc = include_str!("../CONTRIBUTING.md")]
pub struct Contributing;

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The specs and facts of the workspace.
pub fn project() -> Project {
    Project::at(root())
}
