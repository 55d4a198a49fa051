//! `verify`.

mod json;
mod text;

pub use json::json;
pub use text::text;

use crate::kernel::Kernel;
use crate::progress::progress;
use crate::{Error, Format, Outcome, print};
use etw_layouts_project::Project;
use etw_layouts_project::verify;
use std::path::PathBuf;

/// Hold the layouts of the specs against symbol data.
///
/// Without --symbols, against the reduced tables that ship in facts. A table of a build that is not on the
/// version axis is compared with the first release of the build before it, and its line says so. A line a table, and one for all images of a file, then the totals;
/// differences come last. A table that contradicts the kernel as which it is labelled, where that is known from others, and has the
/// layouts of another kernel, is reported as that one's.
///
///     etw verify
///     etw verify --symbols symbols/ --only WMI_LOGGER_CONTEXT
///     etw verify --symbols symbols/2024 symbols/2025 ntkrnlmp.pdb
///     etw verify --symbols ntkrnlmp.json.xz --build 10.0.19041.1415 --arch x64 --format json
///     etw verify --image ntoskrnl.exe --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols'
///
/// `cargo xtask verify` is the same on the specs of the workspace.
///
/// Exit status: 0 nothing differs, 1 something differs or is labelled wrongly, 2 unusable input.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A symbol file, or a folder of them: program databases (.pdb, .pdz), Volatility 3 ISF (.json, .json.xz), snapshots (.facts), or
    /// tables of kernel images (.tsv), which have offsets of some members and addresses of variables. Several may follow, and the flag may be repeated.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    symbols: Vec<PathBuf>,
    #[command(flatten)]
    kernel: Kernel,
    /// Compare one structure only.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Tell also which structures each table lacks, which rules were used, why facts cannot be verified, and the errata.
    #[arg(short, long)]
    verbose: bool,
    /// Text to read, or one JSON document, which has everything.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.layouts()?;
    let (symbols, stated) = args.kernel.symbols(&args.symbols, project)?;
    let bar = progress("symbol files");
    let report = verify::report(project, &layouts, args.only.as_deref(), &symbols, &stated, &|count| {
        bar.set_length(count as u64);
        bar.inc(1);
    });
    bar.finish_and_clear();
    let report = report?;
    match args.format {
        Format::Text => print::print(&text(&layouts, &report, args.verbose))?,
        Format::Json => print::json(&json(&layouts, &report))?,
    }
    Ok(if report.differs() { Outcome::Differs } else { Outcome::Good })
}
