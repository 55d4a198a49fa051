//! `show`.

mod build;
pub mod history;
mod json;
mod otherwise;
mod table;

pub use json::json;
pub use table::text;
pub(crate) use table::{confirmed_in, kind, range};

use crate::print::{pretty, print};
use crate::{Error, Format, Outcome, columns};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::history as life;
use etw_layouts_project::subject::{Subject, choose};
use etw_layouts_project::{Choice, Project};

/// Show the layout of a structure or member, or the constants of an enumeration or of a set of flags.
///
/// Offsets and sizes are in bytes, bits count from the lowest of their unit. Without --build and --arch it is the newest
/// kernel that has the structure, on x64. A label, and a build without a revision, is the first of its known kernels. The output
/// states how sure the layout is for that build, in JSON as `confidence` and `evidence`. For a build that has not been examined, the
/// first lines name the nearest known builds, and the differences between them.
///
///     etw show WMI_BUFFER_HEADER
///     etw show _WMI_LOGGER_CONTEXT --build 10.0.19041.1415 --arch x86 --format json
///     etw show WMI_LOGGER_CONTEXT.BufferSize       one member
///     etw show WMI_LOGGER_CONTEXT -r               with the members of what it embeds
///     etw show ETW_BUFFER_FLAG --build 6.1         the flags of Windows 7
///     etw show WMI_LOGGER_CONTEXT --history        where members appear, move and disappear
///     etw show --build 26100.4652                  how sure the layouts of a build are, and what is open
///
/// `cargo xtask show` is the same on the specs of the workspace. `etw list` tells what there is.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Its name, STRUCTURE or STRUCTURE.MEMBER; a leading underscore may stay. Without it, the build is shown.
    #[arg(required_unless_present = "build")]
    structure: Option<String>,
    /// A build or label: 10.0.19041.1415, 19045.3570, 10.0.19041, 1709, 6.1, 5.1.2600-sp3.
    #[arg(long)]
    build: Option<String>,
    /// The architecture.
    #[arg(long, value_parser = crate::kernel::arch())]
    arch: Option<Arch>,
    /// Show the members of embedded structures too, at their offsets from the start.
    #[arg(short, long)]
    recursive: bool,
    /// How many structures that lie within each other --recursive goes into.
    #[arg(long, value_name = "LEVELS", requires = "recursive", default_value_t = DEEPEST, hide_default_value = true)]
    depth: usize,
    /// The life of its members over all versions: where each appears, moves, is retyped, disappears.
    #[arg(long, conflicts_with_all = ["build", "recursive"])]
    history: bool,
    /// Text to read, or one JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// More than any structures lie within each other.
const DEEPEST: usize = 64;

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.layouts()?;
    let arch = args.arch;
    let registry = project.registry(&layouts.spec.axis)?;
    let structure = match (&args.structure, &args.build) {
        (Some(structure), _) => structure,
        (None, build) => return of_build(&layouts, &registry, build.as_deref().unwrap_or_default(), args),
    };
    if args.history {
        let history = life::of(&layouts, &registry, structure, arch)?;
        match args.format {
            Format::Text => print(&history::text(&history, &layouts))?,
            Format::Json => print(&history::json(&history, &layouts)?)?,
        }
        return Ok(Outcome::Good);
    }
    let levels = if args.recursive { args.depth } else { 0 };
    let subject = Subject::find(&layouts, &registry, structure, args.build.as_deref(), arch)?.expanded(levels);
    match args.format {
        Format::Text => print(&text(&layouts, &registry, &subject, columns::terminal()))?,
        Format::Json => print(&pretty(&json(&layouts, &registry, &subject))?)?,
    }
    Ok(Outcome::Good)
}

fn of_build(layouts: &Layouts, registry: &Registry, build: &str, args: &Args) -> Result<Outcome, Error> {
    let asked = choose(&layouts.spec.axis, build, args.arch)?;
    let choice = Choice::of(layouts, registry, asked, None);
    let overview = build::overview(layouts, registry, &choice)?;
    match args.format {
        Format::Text => print(&build::text(layouts, &choice, &overview))?,
        Format::Json => print(&pretty(&overview)?)?,
    }
    Ok(Outcome::Good)
}
