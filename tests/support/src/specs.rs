//! The specs of the workspace for tests.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::verify;

/// The names of the types that the specs define at a target.
pub fn held(layouts: &Layouts, target: TargetId) -> Vec<&str> {
    let names = verify::names(layouts, None).expect("all names");
    names.into_iter().filter(|name| layouts.get(target, name).is_some()).collect()
}

/// Path and text of each spec file of a project without structures.
pub fn without_structures(layouts: &Layouts) -> impl Iterator<Item = (&str, &str)> {
    // Event specs refer to enumerations of ETW.
    let definitions = ["specs/dump/", "specs/etw/", "specs/events/", "specs/nt/"];
    let files = layouts.spec.sources.files().iter().map(|file| (&*file.path, &*file.text));
    files.filter(move |(path, _)| !definitions.iter().any(|folder| path.starts_with(folder)))
}
