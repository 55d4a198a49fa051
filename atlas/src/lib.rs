//! The atlas: a website of all layouts, as pages that open from disk without a server or a network. It shows results of
//! `etw-layouts-project`, and computes no layout and no confidence.

#![forbid(unsafe_code)]

mod branches;
mod builds;
mod collect;
mod compare;
mod confidence;
mod declaration;
pub mod event;
mod event_class;
mod facts;
mod frame;
mod groups;
mod index;
mod layout;
mod map;
mod marks;
mod matrix;
mod members;
mod memory;
mod names;
mod paths;
mod providers;
mod ribbon;
mod scopes;
mod search;
mod sheet;
mod single;
mod structure;
mod svg;
mod target;
mod type_data;
mod uses;
mod values;
mod variables;
mod write;

use confidence::Confidences;
pub use declaration::bit_range;
use etw_layouts_project::{Error, Project};
pub use facts::Lines;
use rayon::prelude::*;
pub use single::{encoded, page};
use std::collections::BTreeMap;
pub use svg::svg;
pub use write::write;

/// The style sheet.
const STYLE: &str = include_str!("style.css");
/// The parts of the script. A part may use the parts before it.
const SCRIPT: [&str; 10] = [
    include_str!("script/start.js"),
    include_str!("script/builds.js"),
    include_str!("script/search.js"),
    include_str!("script/lists.js"),
    include_str!("script/bytes.js"),
    include_str!("script/payload.js"),
    include_str!("script/structure.js"),
    include_str!("script/compare.js"),
    include_str!("script/providers.js"),
    include_str!("script/end.js"),
];

/// The files of the atlas, each with its path from the atlas' folder. `lines` returns the differences between two targets.
///
/// # Errors
///
/// Specs or facts that cannot be read.
pub fn files(project: &Project, lines: Lines) -> Result<BTreeMap<String, String>, Error> {
    let layouts = project.layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let statements = project.statements()?;
    let mut atlas = collect::atlas(&layouts, &registry, &statements, lines, |_| true)?;
    let confidences = Confidences::of(&atlas, true);
    let catalogue = etw_layouts_catalog::entries();
    compare::mark_unexamined(&mut atlas, &confidences);
    let structures = atlas
        .structures
        .par_iter()
        .flat_map_iter(|structure| layout::pages(&atlas, structure).into_iter().chain([structure::page(&atlas, structure)]));
    let targets: Vec<_> = atlas.axis.targets.ids().collect();
    let kernels = targets
        .into_par_iter()
        .flat_map_iter(|target| [target::page(&atlas, target)].into_iter().chain(map::page(&atlas, target)));
    let values = atlas.values.par_iter().map(|definition| values::page(&atlas, definition));
    let classes = atlas.classes.par_iter().map(|class| event_class::page(&atlas, class));
    let mut files: BTreeMap<String, String> = structures.chain(kernels).chain(values).chain(classes).collect();
    files.extend([index::page(&atlas), index::kernels(&atlas), index::values(&atlas), index::events(&atlas), index::legend()]);
    files.extend([compare::page(&atlas), variables::page(&atlas), providers::page(&catalogue)]);
    let data: Vec<_> = atlas
        .structures
        .par_iter()
        .map(|structure| type_data::file(&atlas, &confidences, structure))
        .collect::<Result<_, _>>()?;
    files.extend(data);
    files.insert("builds.js".into(), builds::data(&atlas)?);
    files.insert("confidence.js".into(), confidences.data()?);
    files.insert("compare.js".into(), compare::data(&atlas, &confidences)?);
    files.insert("search.js".into(), search::data(&atlas, &catalogue)?);
    files.insert("providers.js".into(), providers::data(&catalogue)?);
    files.insert("style.css".into(), STYLE.into());
    files.insert("script.js".into(), SCRIPT.concat());
    Ok(files)
}

/// The index of a value in a list. A new value is added to the list.
fn index_in<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}
