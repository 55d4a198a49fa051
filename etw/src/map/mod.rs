//! `map`.

mod dot;
mod json;
pub(crate) mod svg;
mod text;

pub use dot::dot;
pub use json::json;
pub use svg::svg;
pub use text::text;

use crate::print::{pretty, print};
use crate::{Error, Outcome, columns};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::Choice;
use etw_layouts_project::Project;
use etw_layouts_project::map::Map;
use etw_layouts_project::names::{Among, name};
use etw_layouts_project::subject::{choose, newest};

/// Show how structures hang together: which member leads to which structure, as a pointer, the head of a list, or by holding it.
///
/// Without a structure it is the whole map, from those structures that nothing leads to. Without --build it is the newest kernel.
/// A structure that leads nowhere is left out, unless a pointer or a list leads to it.
///
///     etw map                                          from the state of a silo to the buffers
///     etw map ETW_GUID_ENTRY --build 6.1 --arch x86    what one structure leads to
///     etw map --format svg > map.svg                   a picture
///     etw map --format dot | dot -Tsvg > map.svg       drawn by Graphviz
///
/// `cargo xtask map` is the same on the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Where to begin.
    structure: Option<String>,
    /// A build or label: 10.0.19041.1415, 10.0.19041, 1709, 6.1, 5.1.2600-sp3.
    #[arg(long)]
    build: Option<String>,
    /// The architecture.
    #[arg(long, value_parser = crate::kernel::arch())]
    arch: Option<Arch>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How a map is printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text to read.
    Text,
    /// A graph for Graphviz.
    Dot,
    /// A picture, as the atlas has it.
    Svg,
    /// One JSON document.
    Json,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.layouts()?;
    let axis = &layouts.spec.axis;
    let registry = project.registry(axis)?;
    let only = args.structure.as_deref().map(|only| name(&layouts, Among::Symbols, only)).transpose()?;
    let asked = match &args.build {
        Some(build) => choose(axis, build, args.arch)?,
        None => {
            let has = |target| only.is_none_or(|only| layouts.get(target, only).is_some());
            newest(axis, args.arch, has).ok_or("no kernel of that architecture has it")?
        }
    };
    let choice = Choice::of(&layouts, &registry, asked, only);
    if let Some(only) = only.filter(|only| layouts.get(choice.target(), only).is_none()) {
        return Err(format!("{only} does not exist in {}; `etw list {only}` tells where it does", choice.label(axis)).into());
    }
    let map = Map::of(&layouts, choice.target(), only);
    match args.format {
        Format::Text => print(&text(&map, axis, &choice, only.is_none(), columns::terminal()))?,
        Format::Dot => print(&dot(&map, axis, &choice))?,
        Format::Svg => print(&svg(&map, axis, &choice))?,
        Format::Json => print(&pretty(&json(&map, axis, &choice))?)?,
    }
    Ok(Outcome::Good)
}
