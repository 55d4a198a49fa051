//! The workspace: its folders, its specs.

use crate::Error;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::{Sources, compile};
use std::env;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Folder of the specs.
pub const SPECS: &str = "specs";
/// Folder of the generated sources.
pub const GENERATED: &str = "generated/src";
/// Folder of the reduced symbol tables.
pub const SNAPSHOTS: &str = "tests/snapshots";

/// The root of the workspace: that of the package which cargo runs, or else where this was compiled.
pub fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().unwrap_or(&manifest).to_owned()
}

/// The layouts of the specs; paths in errors are relative to the root.
///
/// # Errors
///
/// Everything that is wrong with the specs.
pub fn layouts() -> Result<Layouts, Error> {
    let (root, specs) = (root(), root().join(SPECS));
    let mut sources = Sources::default();
    for file in Sources::load(&specs)?.files() {
        let path = Path::new(&file.path);
        let shown = path.strip_prefix(&root).unwrap_or(path);
        sources.add(shown.display().to_string().replace('\\', "/"), file.text.clone());
    }
    let colour = std::io::stderr().is_terminal();
    Ok(compile(sources).map_err(|errors| errors.render(colour))?)
}
