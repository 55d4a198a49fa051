//! `atlas`.

mod branches;
mod builds;
mod collect;
mod compare;
mod confidence;
mod declaration;
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
pub mod open;
mod paths;
mod ribbon;
mod scopes;
mod search;
mod sheet;
mod structure;
mod target;
mod type_data;
mod uses;
mod values;
mod write;

use crate::{Error, Outcome, no_stdout, print};
use confidence::Confidences;
use etw_layouts_project::Project;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The style sheet.
const STYLE: &str = include_str!("style.css");
/// The parts of the script. A part may use the parts before it.
const SCRIPT: [&str; 8] = [
    include_str!("script/start.js"),
    include_str!("script/builds.js"),
    include_str!("script/search.js"),
    include_str!("script/lists.js"),
    include_str!("script/payload.js"),
    include_str!("script/structure.js"),
    include_str!("script/compare.js"),
    include_str!("script/end.js"),
];

/// Write a website of all layouts: HTML pages that open from disk, without a server or a network.
///
/// The atlas has one page per structure (its members in all versions), per layout (a map of its bytes), per target (its
/// evidence) and per class of kernel events (the fields of their payloads in all versions), pages of enumerations and flags,
/// maps of references, and a comparison of any two targets. Search and comparison need JavaScript; all other pages work
/// without it.
///
///     etw atlas -o atlas
///     open atlas/index.html
///
/// Creates the folder if it does not exist. Refuses a folder with other content, or with an atlas file that was changed. Removes
/// unchanged pages of an earlier atlas that are no longer part of it.
///
/// `cargo xtask atlas` does the same with the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write the atlas to this folder; it is created if it does not exist.
    #[arg(short, long, value_name = "DIR", value_parser = no_stdout())]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let files = files(project)?;
    let bytes: usize = files.values().map(String::len).sum();
    write::write(&args.output, &files)?;
    let pages = files.keys().filter(|path| path.ends_with(".html")).count();
    let index = args.output.join("index.html");
    print::print(&format!("{pages} pages, {:.1} MB: open {}\n", bytes as f64 / 1e6, index.display()))?;
    Ok(Outcome::Good)
}

/// The files of the atlas, each with its path from the atlas' folder.
///
/// # Errors
///
/// Specs or facts that cannot be read.
pub fn files(project: &Project) -> Result<BTreeMap<String, String>, Error> {
    let layouts = project.layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let statements = project.statements()?;
    let mut atlas = collect::atlas(&layouts, &registry, &statements, |_| true)?;
    let confidences = Confidences::of(&atlas, true);
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
    files.extend([compare::page(&atlas)]);
    let data: Vec<_> = atlas
        .structures
        .par_iter()
        .map(|structure| type_data::file(&atlas, &confidences, structure))
        .collect::<Result<_, _>>()?;
    files.extend(data);
    files.insert("builds.js".into(), builds::data(&atlas)?);
    files.insert("confidence.js".into(), confidences.data()?);
    files.insert("compare.js".into(), compare::data(&atlas, &confidences)?);
    files.insert("search.js".into(), search::data(&atlas)?);
    files.insert("style.css".into(), STYLE.into());
    files.insert("script.js".into(), SCRIPT.concat());
    Ok(files)
}
