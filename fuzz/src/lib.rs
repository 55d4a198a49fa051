//! Properties that hold for all inputs: no panic, no endless loop, memory in proportion to the input, and the assertions of each
//! target.
//!
//! Every target is a module with `run`, which processes an input, and `seeds`, generated inputs that reach deep into the tested
//! code. `cargo xtask fuzz TARGET` searches for failing inputs. `tests/replay.rs` runs seeds, deterministic mutations of them, and
//! the regression inputs in `regressions/TARGET`, with any toolchain.

#![forbid(unsafe_code)]

mod made;
mod targets;

pub use targets::{FuzzTarget, TARGETS};

/// The specs and facts of the workspace.
fn project() -> etw_layouts_project::Project {
    etw_layouts_project::Project::at(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}
