//! The command `list`.

mod globals;
mod pattern;
mod structures;
mod targets;
mod updates;

use crate::object::object;
use crate::print::answer;
use crate::target::target;
use crate::{Error, Format, Outcome, event, text_table};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::evidence::confirmed;
use etw_layouts_project::subject::choose;
use etw_layouts_project::{Choice, Project};
use pattern::Pattern;

/// List structures, enumerations and flags; or targets, global variables, kernel events, or updates that changed layouts.
///
/// Sizes are in bytes: the smallest and the largest of all versions or, with --build, the size in that build. Kinds are struct,
/// union, enum, flags, and constants, which are enumerations that Microsoft's headers define as macros.
///
///     etw list                        all structures, enumerations and flags
///     etw list WMI_                   names that contain WMI_ or wmi_
///     etw list "*_HEADER"             names that end in _HEADER
///     etw list --build 6.1 --arch x86
///     etw list --targets 1607         known targets, by build, label or release
///     etw list --updates              updates that changed layouts, with their KB numbers
///     etw list --updates KB5009543    the change that one update made
///     etw list --events "Process*"    kernel events with known payloads
///     etw list --globals              global variables; etw export offsets prints their addresses
///
/// `cargo xtask list` does the same with the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// List only names that contain this text. If it contains `*`, which stands for any characters, the whole name must match. Case
    /// is ignored.
    pattern: Option<String>,
    /// List only the structures of this build or label: 10.0.19041.1415, 10.0.19041, 1709, 6.1, 5.1.2600-sp3.
    #[arg(long, conflicts_with_all = ["targets", "globals", "updates"])]
    build: Option<String>,
    /// List only the structures or targets of this architecture.
    #[arg(long, conflicts_with_all = ["globals", "updates"], value_parser = crate::symbol_options::arch())]
    arch: Option<Arch>,
    /// List targets: the builds and architectures whose layouts are known.
    #[arg(long)]
    targets: bool,
    /// List the kernel's global variables for ETW. For each, print the number of PDBs with its address, and the number of other
    /// builds for which a table of kernel images has its address.
    #[arg(long, conflicts_with = "targets")]
    globals: bool,
    /// List the updates that changed layouts, with the first known revision of each build that has the change, and its KB number.
    #[arg(long, conflicts_with_all = ["targets", "globals"])]
    updates: bool,
    /// List kernel events: name, hook ID (group and type), payload versions and description. `etw show Process/Start` prints the
    /// fields of one.
    #[arg(long, conflicts_with_all = ["targets", "globals", "updates", "build", "arch"])]
    events: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.shared_layouts()?;
    let axis = &layouts.spec.axis;
    let arch = args.arch;
    let pattern = Pattern(args.pattern.as_deref().unwrap_or("*"));
    let width = text_table::terminal();
    if args.events {
        let mut list = event::events(&layouts.spec, &project.statements()?);
        let names: Vec<_> = list.iter().map(|event| event.name.clone()).collect();
        list.retain(|event| pattern.matches(&event.name));
        pattern.found(list.is_empty(), "event", " --events", names.into_iter())?;
        return answer(args.format, || event::listed(&list, width), || &list);
    }
    let registry = project.registry(axis)?;
    if args.globals {
        let list = globals::list(&layouts, &registry, pattern);
        pattern.found(list.is_empty(), "variable", " --globals", layouts.spec.globals.keys().cloned())?;
        return answer(args.format, || globals::text(&list, width), || object! { globals: &list });
    }
    if args.updates {
        let list = updates::list(axis, pattern);
        pattern.found(list.is_empty(), "update", " --updates", axis.updates.iter().map(|update| update.name.clone()))?;
        return answer(args.format, || updates::text(&list, width), || object! { updates: &list });
    }
    if args.targets {
        let list = targets::list(&layouts, &registry, arch, pattern);
        pattern.found(list.is_empty(), "target", " --targets", axis.targets.ids().map(|target| axis.target_name(target)))?;
        return answer(args.format, || targets::text(&list, width), || object! { targets: &list });
    }
    let asked = args.build.as_deref().map(|build| choose(axis, build, arch)).transpose()?;
    let choice = asked.map(|asked| Choice::of(&layouts, &registry, asked, None));
    let list = structures::list(&layouts, choice.as_ref(), arch, pattern);
    pattern.found(list.is_empty(), "structure", "", layouts.spec.definitions.keys().cloned())?;
    let json = || {
        let target = choice.as_ref().map(|choice| target(axis, choice));
        let list = structures::json(&layouts, &confirmed(&registry, axis), &list);
        object! { #[serde(flatten)] target: target, structures: list }
    };
    answer(args.format, || structures::text(&layouts, &registry, choice.as_ref(), &list, width), json)
}
