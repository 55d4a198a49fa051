//! `list`.

mod globals;
mod pattern;
mod structures;
mod targets;
mod updates;

use crate::{Error, Format, Outcome, columns, print};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::evidence::confirmed;
use etw_layouts_project::subject::choose;
use etw_layouts_project::{Choice, Project};
use pattern::Pattern;

/// List the structures, enumerations and sets of flags that the specs define, the targets that they are known for, global variables, or
/// updates of Windows that changed layouts.
///
/// Sizes are in bytes, from the least to the greatest of all versions; with --build, those of that kernel.
///
///     etw list                        all
///     etw list WMI_                   whose names hold these letters, in either case
///     etw list "*_HEADER"             whose names end so
///     etw list --build 6.1 --arch x86
///     etw list --targets 1607         the kernels that are known, by build, label or release
///     etw list --updates              updates that changed layouts, with their KB numbers
///     etw list --updates KB5009543    the change that this update brought
///     etw list --globals              the global variables, whose addresses etw export offsets gives
///
/// `cargo xtask list` is the same on the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Letters of the name, or a pattern in which each `*` stands for any letters.
    pattern: Option<String>,
    /// What this build has: 10.0.19041.1415, 10.0.19041, 1709, 6.1, 5.1.2600-sp3.
    #[arg(long, conflicts_with_all = ["targets", "globals", "updates"])]
    build: Option<String>,
    /// What this architecture has.
    #[arg(long, conflicts_with_all = ["globals", "updates"], value_parser = crate::kernel::arch())]
    arch: Option<Arch>,
    /// List targets: the kernels whose layouts are known.
    #[arg(long)]
    targets: bool,
    /// List the kernel's global variables that lead to what ETW keeps, and of how many symbol files their addresses are known.
    #[arg(long, conflicts_with = "targets")]
    globals: bool,
    /// List the updates that changed layouts: the first known revision of each build that has the change, and its KB number.
    #[arg(long, conflicts_with_all = ["targets", "globals"])]
    updates: bool,
    /// Text to read, or one JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.layouts()?;
    let axis = &layouts.spec.axis;
    let arch = args.arch;
    let pattern = Pattern(args.pattern.as_deref().unwrap_or("*"));
    let width = columns::terminal();
    let registry = project.registry(axis)?;
    if args.globals {
        let list = globals::list(&layouts, &registry, pattern);
        pattern.found(list.is_empty(), "variable", layouts.spec.globals.keys().cloned())?;
        match args.format {
            Format::Text => print::print(&globals::text(&list, width))?,
            Format::Json => print::json(&globals::json(&list))?,
        }
        return Ok(Outcome::Good);
    }
    if args.updates {
        let list = updates::list(axis, pattern);
        pattern.found(list.is_empty(), "update", axis.updates.iter().map(|update| update.name.clone()))?;
        match args.format {
            Format::Text => print::print(&updates::text(&list, width))?,
            Format::Json => print::json(&updates::json(&list))?,
        }
        return Ok(Outcome::Good);
    }
    if args.targets {
        let list = targets::list(&layouts, &registry, arch, pattern);
        pattern.found(list.is_empty(), "target", (0..axis.targets.len()).map(|target| axis.target_name(target)))?;
        match args.format {
            Format::Text => print::print(&targets::text(&list, width))?,
            Format::Json => print::json(&targets::json(&list))?,
        }
        return Ok(Outcome::Good);
    }
    let asked = args.build.as_deref().map(|build| choose(axis, build, arch)).transpose()?;
    let choice = asked.map(|asked| Choice::of(&layouts, &registry, asked, None));
    let list = structures::list(&layouts, &confirmed(&registry, axis), choice.as_ref(), arch, pattern);
    pattern.found(list.is_empty(), "structure", layouts.spec.definitions.keys().cloned())?;
    match args.format {
        Format::Text => print::print(&structures::text(axis, choice.as_ref(), &list, width))?,
        Format::Json => print::json(&structures::json(axis, choice.as_ref(), &list))?,
    }
    Ok(Outcome::Good)
}
