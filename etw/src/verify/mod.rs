//! The command `verify`.

mod json;
mod text;

pub use json::json;
pub use text::text;

use crate::print::answer;
use crate::progress::progress;
use crate::symbol_options::SymbolOptions;
use crate::{Error, Format, Outcome};
use etw_layouts_project::Project;
use etw_layouts_project::verify;
use std::path::PathBuf;

/// Verify layouts against symbol files.
///
/// Without --symbols, the layouts are verified against the facts: reduced symbol tables that come with the program. The output
/// has a line for each table with differences, a line of totals, and the differences.
/// Members shifted together share one line. With --verbose, every table and every difference has a line.
///
/// A table of a build that is not on the version axis is compared with the first release of the nearest earlier build; its line
/// states this. The build of a table is stated by its file name, by builds.tsv or by --build. A stated build is reported as
/// wrong if the layouts differ from its other symbols and equal those of another build.
///
///     etw verify
///     etw verify --symbols symbols/ --only WMI_LOGGER_CONTEXT
///     etw verify --symbols symbols/2024 symbols/2025 ntkrnlmp.pdb
///     etw verify --symbols ntkrnlmp.json.xz --build 10.0.19041.1415 --arch x64 --format json
///     etw verify --image ntoskrnl.exe --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols'
///
/// `cargo xtask verify` does the same with the specs of the workspace.
///
/// Exit status: 0 no differences, 1 differences or wrong builds, 2 unusable input.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Symbol files, or folders of symbol files: program databases (.pdb, .pdz), Volatility 3 ISF (.json, .json.xz), snapshots (.facts), or
    /// tables of kernel images (.tsv), which contain offsets of some members and addresses of variables. Repeatable.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    symbols: Vec<PathBuf>,
    #[command(flatten)]
    kernel: SymbolOptions,
    /// Verify only this structure.
    #[arg(long, value_name = "STRUCTURE")]
    only: Option<String>,
    /// Also print the tables that are equal, the structures that each table lacks, the rules for converted tables, the reasons why facts
    /// cannot be verified, the errata of published references, and the totals of events. JSON always includes them.
    #[arg(short, long)]
    verbose: bool,
    /// Output format.
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
    answer(args.format, || text(&layouts, &report, args.verbose), || json(&layouts, &report))?;
    Ok(if report.differs() { Outcome::Differs } else { Outcome::Good })
}
