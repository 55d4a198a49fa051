//! The command `diff`.

mod json;
mod text;

pub use json::json;
pub use text::text;
pub(crate) use text::{lines, of};

use crate::print::answer;
use crate::{Error, Format, Outcome};
use etw_layouts_project::Project;
use etw_layouts_project::diff::{Verdict, changes, sides};

/// Show the differences between the structures of two targets, or of a target and a symbol file.
///
/// A and B are targets (BUILD-ARCH) or paths of symbol files in a format that `etw verify` reads. Types are printed as in the
/// specs, or as in the symbol file if there is one. A comparison with a symbol file leaves out the
/// structures that public symbol files never contain.
///
/// If a build has not been examined, the layouts of a known build are used, and the first line names that build. Structures
/// whose inferred or uncertain layout may be the same in both targets are listed as unknown.
/// The exit status is 2 if no structure is known to differ and some are unknown.
///
///     etw diff 6.1.7601.0-x64 6.1.7601.24000-x64
///     etw diff 1709-x64 1803-x64 --only WMI_LOGGER_CONTEXT
///     etw diff 10.0.19041.1415-x64 ntkrnlmp.json.xz --format json
///
/// `cargo xtask diff` does the same with the specs of the workspace.
///
/// Exit status: 0 equal, 1 different, 2 unknown, or unusable input.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// First side: a target such as 1709-x64 or 10.0.19041.1415-x64, or a symbol file.
    a: String,
    /// Second side: a target or a symbol file.
    b: String,
    /// Compare only this structure.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.shared_layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let [a, b] = sides(&layouts, &registry, [&args.a, &args.b], args.only.as_deref())?;
    let changes = changes(&a, &b);
    let verdict = Verdict::of(&a, &b, &changes);
    answer(args.format, || text(&a, &b, &changes), || json(&layouts.spec.axis, &a, &b, &changes, &verdict))?;
    verdict.ensure_decided(&a, &b)?;
    Ok(if verdict.differ.is_empty() { Outcome::Good } else { Outcome::Differs })
}
