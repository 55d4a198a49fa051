//! The command `map`.

mod dot;
mod json;
mod text;

pub use dot::dot;
pub use etw_layouts_atlas::svg;
pub use json::json;
pub use text::text;

use crate::print::{json as print_json, print};
use crate::target::absent;
use crate::{Error, Outcome, text_table};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::Choice;
use etw_layouts_project::Project;
use etw_layouts_project::map::Map;
use etw_layouts_project::names::{Among, name};
use etw_layouts_project::subject::{choose, newest};

/// Show which structures reference each other: members that are pointers, list heads or embedded structures.
///
/// Without STRUCTURE, show only structures that reach a list head. Without --build, it shows the newest
/// build. A structure that references no other one is shown only if the map starts there, or if a pointer or a
/// list references it.
///
///     etw map                                          the structures that reach a list head
///     etw map ETW_GUID_ENTRY --build 6.1 --arch x86    the structures reachable from ETW_GUID_ENTRY
///     etw map --to SILO_USER_SHARED_DATA               the structures that reference SILO_USER_SHARED_DATA
///     etw map --format svg > map.svg                   a picture
///     etw map --format dot | dot -Tsvg > map.svg       a picture drawn by Graphviz
///
/// `cargo xtask map` does the same with the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Start at this structure.
    structure: Option<String>,
    /// Show only the structures that reference this one, and the members with these references.
    #[arg(long, value_name = "STRUCTURE", conflicts_with = "structure")]
    to: Option<String>,
    /// Build or label: 10.0.19041.1415, 1709, 6.1; by default the newest.
    #[arg(long)]
    build: Option<String>,
    /// Architecture.
    #[arg(long, value_parser = crate::symbol_options::arch())]
    arch: Option<Arch>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The output format of a map.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Readable text.
    Text,
    /// A graph for Graphviz.
    Dot,
    /// An SVG picture, as in the atlas.
    Svg,
    /// One JSON document.
    Json,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.shared_layouts()?;
    let axis = &layouts.spec.axis;
    let registry = project.registry(axis)?;
    let asked = args.structure.as_deref().or(args.to.as_deref());
    let only = asked.map(|only| name(&layouts, Among::Symbols, only)).transpose()?;
    let asked = match &args.build {
        Some(build) => choose(axis, build, args.arch)?,
        None => {
            let has = |target| only.is_none_or(|only| layouts.get(target, only).is_some());
            newest(axis, args.arch, has).ok_or("the structure does not exist on this architecture; choose another --arch")?
        }
    };
    let choice = Choice::of(&layouts, &registry, asked, only);
    if let Some(only) = only.filter(|only| layouts.get(choice.target(), only).is_none()) {
        return Err(absent(&layouts, &choice, only));
    }
    let map = match only.filter(|_| args.to.is_some()) {
        Some(to) => Map::to(&layouts, choice.target(), to),
        None => Map::of(&layouts, choice.target(), only),
    };
    match args.format {
        Format::Text => print(&text(&map, axis, &choice, only.is_none(), text_table::terminal()))?,
        Format::Dot => print(&dot(&map, axis, &choice))?,
        Format::Svg => print(&svg(&map, axis, &choice))?,
        Format::Json => print_json(&json(&map, axis, &choice))?,
    }
    Ok(Outcome::Good)
}
