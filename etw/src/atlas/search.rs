//! What the search finds: types with their members or constants, events with their fields, and kernels.

use super::facts::Atlas;
use super::paths;
use crate::Error;
use etw_layouts_codegen::spec::Body;
use serde::Serialize;

#[derive(Serialize)]
struct Data<'a> {
    types: Vec<Type<'a>>,
    /// Classes of events: name and page.
    classes: Vec<(&'a str, String)>,
    events: Vec<Event<'a>>,
    /// Name, page and release.
    kernels: Vec<(&'a str, String, &'a str)>,
}

/// Name, page, members or constants, and the pages where these are, by number.
#[derive(Serialize)]
struct Type<'a>(&'a str, String, Vec<(&'a str, usize)>, Vec<String>);

/// Name, page, hook, names of the hook, and fields.
#[derive(Serialize)]
struct Event<'a>(&'a str, String, String, Vec<&'a str>, Vec<&'a str>);

/// The data of the script.
pub fn data(atlas: &Atlas) -> Result<String, Error> {
    let mut types = Vec::new();
    for structure in &atlas.structures {
        let mut pages: Vec<String> = Vec::new();
        let mut members: Vec<(&str, usize)> = Vec::new();
        for row in structure.matrices.iter().flat_map(|matrix| &matrix.rows) {
            let Some(page) = structure.life.page(&row.member) else { continue };
            let page = page.split('#').next().unwrap_or_default().to_owned();
            let number = pages.iter().position(|known| *known == page).unwrap_or_else(|| {
                pages.push(page);
                pages.len() - 1
            });
            members.push((&row.member, number));
        }
        members.sort_unstable();
        members.dedup();
        types.push(Type(structure.name(), paths::of_type(structure.name()), members, pages));
    }
    for definition in &atlas.values {
        let Body::Values(values) = &definition.body else { continue };
        let (name, page) = (definition.name.value.as_str(), paths::of_type(&definition.name.value));
        let constants = values.constants.iter().map(|constant| (constant.name.value.as_str(), 0)).collect();
        types.push(Type(name, page.clone(), constants, vec![page]));
    }
    let kernels =
        atlas.kernels.iter().map(|(target, one)| (one.name.as_str(), paths::of_kernel(&one.name), atlas.release(target)));
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
    let data = Data { types, classes, events, kernels: kernels.collect() };
    Ok(format!("window.atlasSearch = {};\n", serde_json::to_string(&data)?))
}
