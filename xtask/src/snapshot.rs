//! `cargo xtask snapshot`.

use crate::{Error, Outcome, generate, workspace};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::facts;
use etw_layouts_project::tables::Stated;
use std::path::PathBuf;

/// Reduce symbol files to the facts for verification of the specs, and add them to the folder of facts.
///
/// Each file in the folder is a distinct set of facts, with the kernels that have it. A kernel that already exists is replaced.
/// The order of the paths does not matter.
///
///     cargo xtask snapshot symbols/
///     cargo xtask snapshot ntkrnlmp.json.xz --build 10.0.22621.1 --arch x64
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Symbol files, or folders of them.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Build of a symbol file whose name does not state it.
    #[arg(long)]
    build: Option<String>,
    /// Architecture, if the file does not state it.
    #[arg(long, value_parser = etw_layouts_cli::symbol_options::arch())]
    arch: Option<Arch>,
    /// Output folder.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let stated = Stated { build: args.build.clone(), arch: args.arch };
    let folder = args.out.clone().unwrap_or(workspace::root().join("facts"));
    let facts::Written { files, bytes, recovered } = facts::write(&generate::project(), &args.paths, &stated, &folder)?;
    etw_layouts_cli::note(recovered.as_deref());
    anstream::println!("{files} snapshots, {bytes} bytes, in {}", folder.display());
    Ok(Outcome::Good)
}
