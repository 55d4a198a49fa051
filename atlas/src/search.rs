//! The search index: types with their members or constants, global variables, providers, events with their fields, and builds.

use crate::facts::Atlas;
use crate::{paths, providers, variables};
use etw_layouts_catalog::Entry;
use etw_layouts_codegen::spec::Body;
use etw_layouts_project::Error;
use serde::Serialize;
use std::collections::BTreeSet;

/// Name, page, kind, note and search terms; then its parts, such as members, and their kind.
#[derive(Serialize)]
struct Found<'a>(&'a str, String, &'static str, String, String, Vec<&'a str>, &'static str);

/// The data of the script.
pub fn data(atlas: &Atlas, catalogue: &[Entry]) -> Result<String, Error> {
    let mut entries = Vec::new();
    for structure in &atlas.structures {
        let mut members: Vec<&str> =
            structure.matrices.iter().flat_map(|matrix| &matrix.rows).map(|row| row.member.as_str()).collect();
        members.sort_unstable();
        members.dedup();
        let page = paths::type_page(structure.name());
        entries.push(Found(structure.name(), page, "structure", String::new(), String::new(), members, "member"));
    }
    for definition in &atlas.values {
        let Body::Values(values) = &definition.body else { continue };
        let (name, page) = (definition.name.value.as_str(), paths::type_page(&definition.name.value));
        let constants = values.constants.iter().map(|constant| constant.name.value.as_str()).collect();
        entries.push(Found(name, page, "values", String::new(), String::new(), constants, "constant"));
    }
    for name in atlas.layouts.spec.globals.keys() {
        entries.push(Found(name, variables::address(name), "variable", String::new(), String::new(), Vec::new(), ""));
    }
    for entry in catalogue {
        let guid = entry.provider.guid.to_string();
        let words = guid.replace('-', "");
        entries.push(Found(&entry.provider.name, providers::address(entry), "provider", guid, words, Vec::new(), ""));
    }
    for class in &atlas.classes {
        entries.push(Found(class.name, paths::class_page(class.name), "events", String::new(), String::new(), Vec::new(), ""));
    }
    for event in atlas.classes.iter().flat_map(|class| &class.events) {
        let mut fields = Vec::new();
        for field in event.versions.iter().rev().flat_map(|version| &version.fields) {
            if !fields.contains(&field.name) {
                fields.push(field.name);
            }
        }
        let hook = event.hook.map(|hook| format!("{hook:#06x}")).unwrap_or_default();
        let names = event.hook.into_iter().flat_map(|hook| atlas.hook_names(hook));
        let words = event.hook.map(|hook| format!("{hook:#x} {hook}")).into_iter().chain(names.map(str::to_owned));
        let words = words.collect::<Vec<_>>().join(" ");
        entries.push(Found(&event.name, paths::event_address(&event.name), "event", hook, words, fields, "field"));
    }
    for (target, one) in atlas.kernels.iter() {
        // The label and the release of a target are search terms.
        let note = format!("{} · {}", atlas.axis.windows(atlas.axis.revision_of(target).build), atlas.label(target));
        entries.push(Found(&one.name, paths::target_page(&one.name), "build", note, String::new(), Vec::new(), ""));
    }
    let examined = examined(atlas);
    entries.extend(
        examined
            .iter()
            .map(|(name, page, note)| Found(name, page.clone(), "examined", note.clone(), String::new(), Vec::new(), "")),
    );
    Ok(format!("window.atlasSearch = {};\n", serde_json::to_string(&entries)?))
}

/// The examined builds: name, page, and as search terms the GUID and age of the PDB and the time stamp of the image.
fn examined(atlas: &Atlas) -> BTreeSet<(String, String, String)> {
    let mut list = BTreeSet::new();
    for (_, kernel) in atlas.kernels.iter() {
        for (seen, id) in kernel.seen.iter().filter_map(|seen| Some((seen, crate::target::row_id(seen)?))) {
            let page = format!("{}#{id}", paths::target_page(&kernel.name));
            let pdb = seen.pdb.as_ref().map(|pdb| format!("{:x}{:x}", pdb.guid.simple(), pdb.age));
            let stamp = seen.image.as_ref().map(|image| format!("0x{:08x}", image.time_stamp));
            let note = pdb.into_iter().chain(stamp).collect::<Vec<_>>().join(" ");
            list.insert((format!("{}-{}", seen.build, seen.arch), page, note));
        }
    }
    list
}
