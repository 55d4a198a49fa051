//! What the search finds: types with their members or constants, events with their fields, and kernels.

use super::facts::Atlas;
use super::paths;
use crate::Error;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::spec::Body;
use serde::Serialize;

#[derive(Serialize)]
struct Data<'a> {
    types: Vec<Type<'a>>,
    /// Classes of events: name and page.
    classes: Vec<(&'a str, String)>,
    events: Vec<Event<'a>>,
    /// Name, page and release.
    kernels: Vec<(&'a str, String, String)>,
    /// The identities of examined builds: build and architecture, its target by number, the GUID of the PDB and the time stamp of the image.
    seen: Vec<(String, usize, String, String)>,
}

/// Name, page, and members or constants.
#[derive(Serialize)]
struct Type<'a>(&'a str, String, Vec<&'a str>, &'static str);

/// Name, page, hook, names of the hook, and fields.
#[derive(Serialize)]
struct Event<'a>(&'a str, String, String, Vec<&'a str>, Vec<&'a str>);

/// The data of the script.
pub fn data(atlas: &Atlas) -> Result<String, Error> {
    let mut types = Vec::new();
    for structure in &atlas.structures {
        let mut members: Vec<&str> =
            structure.matrices.iter().flat_map(|matrix| &matrix.rows).map(|row| row.member.as_str()).collect();
        members.sort_unstable();
        members.dedup();
        types.push(Type(structure.name(), paths::of_type(structure.name()), members, "structure"));
    }
    for definition in &atlas.values {
        let Body::Values(values) = &definition.body else { continue };
        let (name, page) = (definition.name.value.as_str(), paths::of_type(&definition.name.value));
        let constants = values.constants.iter().map(|constant| constant.name.value.as_str()).collect();
        types.push(Type(name, page, constants, "values"));
    }
    let kernels =
        atlas.kernels.iter().map(|(target, one)| (one.name.as_str(), paths::of_kernel(&one.name), release(atlas, target)));
    let classes = atlas.classes.iter().map(|class| (class.name, paths::of_class(class.name))).collect();
    let events = atlas.classes.iter().flat_map(|class| &class.events).map(|event| {
        let mut fields = Vec::new();
        for field in event.versions.iter().rev().flat_map(|version| &version.fields) {
            if !fields.contains(&field.name) {
                fields.push(field.name);
            }
        }
        let hook = event.hook.map(|hook| format!("{hook:#06x}")).unwrap_or_default();
        let names = event.hook.into_iter().flat_map(|hook| atlas.hook_names(hook)).collect();
        Event(&event.name, paths::of_event(&event.name), hook, names, fields)
    });
    let events = events.collect();
    let data = Data { types, classes, events, kernels: kernels.collect(), seen: seen(atlas) };
    Ok(format!("window.atlasSearch = {};\n", serde_json::to_string(&data)?))
}

/// The label and the release of a target, by which people look for it.
fn release(atlas: &Atlas, target: TargetId) -> String {
    format!("{} · {}", atlas.axis.windows(atlas.axis.kernel_of(target).build), atlas.label(target))
}

fn seen(atlas: &Atlas) -> Vec<(String, usize, String, String)> {
    let mut list = Vec::new();
    for (target, kernel) in atlas.kernels.iter() {
        for seen in kernel.seen.iter().filter(|seen| seen.pdb.is_some() || seen.image.is_some()) {
            let pdb = seen.pdb.as_ref().map(|pdb| format!("{:032x}", pdb.guid)).unwrap_or_default();
            let image = seen.image.as_ref().map(|image| format!("{:08x}", image.time_stamp)).unwrap_or_default();
            list.push((format!("{}-{}", seen.build, seen.arch), usize::from(target), pdb, image));
        }
    }
    list.sort_unstable();
    list.dedup();
    list
}
