//! The command `show`.

mod build;
pub mod history;
mod json;
mod otherwise;
mod table;

pub(crate) use build::{by_confidence, counted};
pub use json::json;
pub use table::text;
pub(crate) use table::{confirmed_in, definition_kind, kind};

use crate::object::object;
use crate::print::answer;
use crate::target::target;
use crate::{Error, Format, Outcome, event, text_table};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::events::catalog;
use etw_layouts_project::history as histories;
use etw_layouts_project::subject::{Subject, choose};
use etw_layouts_project::{Choice, Project};

/// Show the layout of a structure or member, the constants of an enumeration or of flags, or the confidence in a build.
///
/// Offsets and sizes are in bytes. Bits are counted from the lowest bit of their unit. The default target is the newest build
/// that has the structure, on x64. A label, or a build without a revision, selects its first known revision. The
/// output states the confidence in the layout for that build; JSON has it as `confidence` and `evidence`. For a build that has
/// not been examined, the first lines name the nearest known builds and list the differences between their layouts.
///
/// Versions are labels of releases, which `etw list --targets` explains: 5.0 is Windows 2000, 6.1 is Windows 7. A history also
/// names the first revision of a change, its KB number, and the last build without the change. In a history, `as in BUILD` means
/// that the layout is again that of BUILD. In an event, the offset `-` means that an earlier field has a variable size; `sources` lists the references
/// that describe the version, as explained in specs/events/README.md of the source repository.
///
///     etw show WMI_BUFFER_HEADER
///     etw show _WMI_LOGGER_CONTEXT --build 10.0.19041.1415 --arch x86 --format json
///     etw show WMI_LOGGER_CONTEXT.BufferSize       one member
///     etw show WMI_LOGGER_CONTEXT+0x2c8            the members at an offset, also in embedded structures
///     etw show WMI_LOGGER_CONTEXT -r               with the members of embedded structures
///     etw show ETW_BUFFER_FLAG --build 6.1         the flags of Windows 7
///     etw show WMI_LOGGER_CONTEXT --history        where members appear, move and disappear
///     etw show Process/Start                       an event: the fields of its payload in all versions
///     etw show --build 26100.4652                  confidence in all layouts of a build
///
/// `cargo xtask show` does the same with the specs of the workspace. `etw list` prints all names.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Structure, enumeration, STRUCTURE.MEMBER, STRUCTURE+OFFSET, or CLASS/EVENT; a leading underscore is ignored. To show a
    /// build, give --build without a name.
    #[arg(value_name = "NAME")]
    structure: Option<String>,
    /// Build, label or KB number: 10.0.19041.1415, 19045.3570, 10.0.19041, 1709, 6.1, 5.1.2600-sp3, KB5031356.
    #[arg(long)]
    build: Option<String>,
    /// Architecture; default x64, or x86 if the build has no x64.
    #[arg(long, value_parser = crate::symbol_options::arch())]
    arch: Option<Arch>,
    /// Also show the members of embedded structures, with their offsets from the start of the outermost structure.
    #[arg(short, long)]
    recursive: bool,
    /// Limit --recursive to LEVELS of nested structures.
    #[arg(long, value_name = "LEVELS", requires = "recursive", default_value_t = DEEPEST, hide_default_value = true)]
    depth: usize,
    /// Show the history of the members over all versions: where each one appears, moves, changes type or disappears.
    #[arg(long, conflicts_with_all = ["build", "recursive"])]
    history: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// More levels than any structure has.
const DEEPEST: usize = 64;

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.shared_layouts()?;
    if let Some(name) = args.structure.as_deref().filter(|name| is_event(&layouts, name)) {
        return events(&layouts, project, name, args);
    }
    let arch = args.arch;
    let registry = project.registry(&layouts.spec.axis)?;
    let structure = match (&args.structure, &args.build) {
        (Some(structure), _) => structure,
        (None, Some(build)) => return of_build(&layouts, &registry, build, args),
        (None, None) => {
            return Err(
                "nothing to show; name a structure, a member or an event, or a build with --build; `etw list` prints all names"
                    .into(),
            );
        }
    };
    if args.history {
        let history = histories::of(&layouts, &registry, structure, arch)?;
        return answer(args.format, || history::text(&history, &layouts), || history::json(&history, &layouts));
    }
    let levels = if args.recursive { args.depth } else { 0 };
    let subject = Subject::find(&layouts, &registry, structure, args.build.as_deref(), arch)?.expanded(levels);
    let width = text_table::terminal();
    answer(args.format, || text(&layouts, &registry, &subject, width), || json(&layouts, &registry, &subject))
}

/// Whether a name is that of an event or of a class of events, and not of a structure.
fn is_event(layouts: &Layouts, name: &str) -> bool {
    let is_class = || layouts.spec.classes.iter().any(|class| class.name.value.eq_ignore_ascii_case(name));
    name.contains('/') || !layouts.spec.definitions.contains_key(name) && is_class()
}

/// Shows an event, or lists the events of a class.
fn events(layouts: &Layouts, project: &Project, name: &str, args: &Args) -> Result<Outcome, Error> {
    let options = [
        (args.build.is_some(), "--build"),
        (args.arch.is_some(), "--arch"),
        (args.history, "--history"),
        (args.recursive, "--recursive"),
    ];
    let given: Vec<_> = options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, name)| name).collect();
    if !given.is_empty() {
        return Err(format!("`{name}` is an event: all its versions are shown together; remove {}", given.join(" and ")).into());
    }
    let statements = project.statements()?;
    let found = catalog::find(&layouts.spec, name)?;
    let list = event::found(&layouts.spec, &statements, found);
    let width = text_table::terminal();
    match &list[..] {
        [one] => answer(args.format, || event::shown(one, width), || one),
        _ => answer(args.format, || event::listed(&list, width), || &list),
    }
}

fn of_build(layouts: &Layouts, registry: &Registry, build: &str, args: &Args) -> Result<Outcome, Error> {
    let asked = choose(&layouts.spec.axis, build, args.arch)?;
    let choice = Choice::of(layouts, registry, asked, None);
    let overview = build::overview(layouts, registry, &choice)?;
    // The confidence in all of its layouts together, and in each.
    let json =
        || object! { #[serde(flatten)] target: target(&layouts.spec.axis, &choice), #[serde(flatten)] overview: &overview };
    answer(args.format, || build::text(layouts, &choice, &overview), json)
}
