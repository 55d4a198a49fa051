//! `export layouts`: the table that programs read in place of the one that they were compiled with.

use super::write::place;
use crate::{Error, NewFile, Outcome, no_stdout, print};
use etw_layouts_codegen::emit::packed;
use etw_layouts_project::Project;
use std::path::PathBuf;

/// Write all layouts and examined builds as a file for programs that use the crate etw-layouts.
///
///     etw export layouts -o layouts.bin
///
/// A program opens the file with `Layouts::from_bytes` of etw_layouts::runtime::packed, instead of the table that it was compiled with.
/// It then selects layouts of builds that were imported later, with their confidence. Tokens find members by name; a member that the
/// file lacks is reported. The file contains no descriptions or errata.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write DIR/layouts.bin, or FILE (.bin). A file with other content is not overwritten.
    #[arg(short, long, value_name = "DIR|FILE", value_parser = no_stdout())]
    output: PathBuf,
}

pub(super) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.shared_layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let table = packed::table(&layouts, &registry)?;
    let path = place("layouts.bin", &args.output)?;
    NewFile::write(&path, &table).map_err(|error| format!("{}: {error}", path.display()))?;
    print(&format!("wrote {}\n", path.display()))?;
    Ok(Outcome::Good)
}
