//! The Cargo features of generated types.

use etw_layouts_codegen::emit::rust::{Options, emit, manifest};
use etw_layouts_codegen::{Sources, compile};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// With its own feature only, a structure has all modules that it imports. Each structure is in one group.
#[test]
fn a_structure_has_all_that_it_embeds() {
    let specs = Sources::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs")).unwrap();
    let layouts = compile(specs).unwrap();
    let files = emit(&layouts, &Options { feature: Some("kernel".into()), ..Options::default() });
    let text = manifest(&layouts, "kernel");
    let quoted = |text: &str| text.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let features =
        text.split("]\n").filter_map(|entry| entry.split_once(" = [")).map(|(name, list)| (name.to_owned(), quoted(list)));
    let features: BTreeMap<String, Vec<String>> = features.collect();
    let (groups, structures): (Vec<_>, Vec<_>) =
        features.iter().partition(|(name, _)| ["dump", "kernel", "trace"].contains(&name.as_str()));
    // Registries of packages accept 300 features, and the crate has others.
    assert!(structures.len() > 150 && features.len() <= 240, "{} features", features.len());
    let in_groups: Vec<_> = groups.iter().flat_map(|(_, list)| *list).collect();
    assert_eq!(in_groups.len(), structures.len());
    assert_eq!(in_groups.into_iter().collect::<BTreeSet<_>>(), structures.iter().map(|(name, _)| *name).collect());

    // The features that include a module: `#[cfg(any(feature = "one", feature = "other"))] pub mod name;`
    let modules = files["layouts/mod.rs"].lines().filter_map(|line| line.split_once("pub mod "));
    let including: BTreeMap<_, _> = modules.map(|(cfg, name)| (name.trim_end_matches(';'), quoted(cfg))).collect();
    for (structure, _) in structures {
        let mut enabled = BTreeSet::from([structure.as_str()]);
        let mut open = vec![structure];
        while let Some(feature) = open.pop() {
            let new = features.get(feature).into_iter().flatten().filter(|feature| enabled.insert(feature.as_str()));
            open.extend(new);
        }
        assert!(enabled.contains("targets"), "{structure}");
        let text = &files[&format!("layouts/{structure}.rs")];
        let imports = text.lines().find(|line| line.starts_with("use super::{")).unwrap();
        for module in imports.split(", ").filter_map(|import| import.trim_end_matches("};").strip_suffix("::*")) {
            let is_included = including[module].iter().any(|feature| enabled.contains(feature.as_str()));
            assert!(is_included, "{structure} needs {module}, which {:?} include", including[module]);
        }
    }
}
