//! Which kernel symbols are of.

use crate::Error;
use crate::progress::bytes;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::Project;
use etw_layouts_project::tables::{self, Stated};
use std::env;
use std::path::PathBuf;

/// Which kernel symbols are of, where they do not tell it themselves.
#[derive(clap::Args)]
pub struct Kernel {
    /// The build of a symbol file that does not tell it, such as 10.0.26100.3915.
    #[arg(long, requires = "symbols")]
    pub build: Option<String>,
    /// The architecture, where the file does not tell it.
    #[arg(long, requires = "symbols", value_parser = arch())]
    arch: Option<Arch>,
    /// A kernel, such as ntoskrnl.exe: it tells build and architecture, and its PDB is looked up along the symbol path.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["symbols", "build", "arch"])]
    image: Option<PathBuf>,
    /// Where PDBs are, as the debuggers write it: folders, srv*CACHE*URL, cache*FOLDER, between `;`. By default the value of
    /// _NT_SYMBOL_PATH. What is downloaded without a CACHE is kept in target/symbols, or in .cache/etw/symbols at home.
    #[arg(long, value_name = "PATH", requires = "image")]
    symbol_path: Option<String>,
}

/// Reads `--arch`.
pub fn arch() -> impl TypedValueParser<Value = Arch> {
    PossibleValuesParser::new(Arch::ALL.map(Arch::as_str)).try_map(|word| word.parse::<Arch>())
}

impl Kernel {
    /// The symbol files that are named, or the one of the image, and what is said of them.
    ///
    /// # Errors
    ///
    /// An image that cannot be read, or whose symbol file is not found.
    pub fn symbols(&self, named: &[PathBuf], project: &Project) -> Result<(Vec<PathBuf>, Stated), Error> {
        let Some(image) = &self.image else {
            return Ok((named.to_vec(), Stated { build: self.build.clone(), arch: self.arch }));
        };
        let bar = bytes();
        let found = tables::from_image(image, self.symbol_path.as_deref(), &cache(project), &mut |name, done, whole| {
            bar.set_message(name.to_owned());
            bar.set_length(whole.unwrap_or(done));
            bar.set_position(done);
        });
        bar.finish_and_clear();
        let (pdb, build, arch) = found?;
        Ok((vec![pdb], Stated { build: Some(build.to_string()), arch: Some(arch) }))
    }
}

/// Where downloads are kept.
fn cache(project: &Project) -> PathBuf {
    match home_cache() {
        Some(cache) if project.root.as_os_str().is_empty() => cache,
        _ => project.root.join("target/symbols"),
    }
}

/// Where downloads are kept in no project's folder.
pub fn home_cache() -> Option<PathBuf> {
    env::home_dir().map(|home| home.join(".cache/etw/symbols"))
}
