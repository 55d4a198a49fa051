//! The options that identify the kernel of symbol files.

use crate::Error;
use crate::progress::bytes;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::Project;
use etw_layouts_project::tables::{self, Stated};
use std::env;
use std::path::PathBuf;

/// The kernel of symbol files that do not name it themselves.
#[derive(clap::Args)]
pub struct SymbolOptions {
    /// Build of the symbol file, such as 10.0.26100.3915. By default it is taken from the file, its name, or a builds.tsv beside it.
    #[arg(long, requires = "symbols")]
    pub build: Option<String>,
    /// Architecture of the symbol file, if the file does not name it.
    #[arg(long, requires = "symbols", value_parser = arch())]
    arch: Option<Arch>,
    /// Use the symbols of a kernel image, such as ntoskrnl.exe. Its build and architecture are read from the image, and its PDB is searched
    /// along the symbol path.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["symbols", "build", "arch"])]
    image: Option<PathBuf>,
    /// Search PDBs along this path, in the syntax of the Windows debuggers: folders, srv*CACHE*URL or cache*FOLDER, separated by `;`
    /// [default: the value of _NT_SYMBOL_PATH]. Downloads without a CACHE are stored in target/symbols of the project, or in
    /// .cache/etw/symbols of the home folder.
    #[arg(long, value_name = "PATH", requires = "image")]
    symbol_path: Option<String>,
}

/// Reads `--arch`.
pub fn arch() -> impl TypedValueParser<Value = Arch> {
    PossibleValuesParser::new(Arch::ALL.map(Arch::as_str)).try_map(|word| word.parse::<Arch>())
}

impl SymbolOptions {
    /// The named symbol files, or the symbol file of the image, with the build and architecture that are stated for them.
    pub fn symbols(&self, named: &[PathBuf], project: &Project) -> Result<(Vec<PathBuf>, Stated), Error> {
        let Some(image) = &self.image else {
            return Ok((named.to_vec(), Stated { build: self.build.clone(), arch: self.arch }));
        };
        let bar = bytes();
        let path = self.symbol_path.clone().or_else(|| env::var("_NT_SYMBOL_PATH").ok());
        let found = tables::from_image(image, path.as_deref(), &cache(project), &mut |name, done, whole| {
            bar.set_message(name.to_owned());
            bar.set_length(whole.unwrap_or(done));
            bar.set_position(done);
        });
        bar.finish_and_clear();
        let (pdb, build, arch) = found?;
        Ok((vec![pdb], Stated { build: Some(build.to_string()), arch: Some(arch) }))
    }
}

/// The folder for downloads.
fn cache(project: &Project) -> PathBuf {
    match home_cache() {
        Some(cache) if project.root.as_os_str().is_empty() => cache,
        _ => project.root.join("target/symbols"),
    }
}

/// The folder for downloads outside of a project.
pub fn home_cache() -> Option<PathBuf> {
    env::home_dir().map(|home| home.join(".cache/etw/symbols"))
}
