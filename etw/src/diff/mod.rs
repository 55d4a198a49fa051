//! `diff`.

mod json;
mod text;

pub use json::json;
pub(crate) use text::of;
pub use text::text;

use crate::{Error, Format, Outcome, print};
use etw_layouts_project::Project;
use etw_layouts_project::diff::{changes, sides, told_apart};

/// Show how structures differ between two targets, or between a target and a symbol file.
///
/// A and B are each a target, BUILD-ARCH, or the path of a symbol file, as `verify` reads. Types of two targets are shown as
/// the specs spell them, those of a symbol file as it has them. What public symbol files never hold is not compared with one.
///
/// For a build that has not been examined another one is taken, and the first line names it. If that does not differ
/// from the other target, whether the two differ is not known, and the exit status is 2.
///
///     etw diff 6.1.7601.0-x64 6.1.7601.24000-x64
///     etw diff 1709-x64 1803-x64 --only WMI_LOGGER_CONTEXT
///     etw diff 10.0.19041.1415-x64 ntkrnlmp.json.xz --format json
///
/// `cargo xtask diff` is the same on the specs of the workspace.
///
/// Exit status: 0 no difference, 1 something differs, 2 unusable input, or nothing is known that would tell.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// What was: 1709-x64, 10.0.19041.1415-x64, or a symbol file.
    a: String,
    /// What is.
    b: String,
    /// Compare one structure only.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Text to read, or one JSON document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let [a, b] = sides(&layouts, &registry, [&args.a, &args.b], args.only.as_deref())?;
    let changes = changes(&a, &b);
    told_apart(&layouts.spec.axis, &a, &b, &changes)?;
    match args.format {
        Format::Text => print::print(&text(&a, &b, &changes))?,
        Format::Json => print::json(&json(&layouts.spec.axis, &a, &b, &changes))?,
    }
    Ok(if changes.is_empty() { Outcome::Good } else { Outcome::Differs })
}
