//! Generation from a build script, or from any program: specs in, one Rust source out.

use crate::emit::rust::{Options, emit_inline};
use crate::layouts::Layouts;
use crate::{Errors, Sources, compile, files};
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

/// Generates Rust types from specs.
///
/// In a `build.rs`, for a crate that depends on `etw-layouts-runtime`:
///
/// ```no_run
/// etw_layouts_codegen::Builder::new("specs").structure("MY_HEADER").target("1709-x64").build();
/// ```
///
/// and in the crate:
///
/// ```ignore
/// mod my { include!(concat!(env!("OUT_DIR"), "/layouts.rs")); }
/// use my::targets::win10_1709::x64::MY_HEADER;
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    specs: PathBuf,
    structures: Vec<String>,
    targets: Vec<String>,
    runtime: Option<String>,
}

impl Builder {
    /// Reads the specs of a file or folder.
    pub fn new(specs: impl Into<PathBuf>) -> Self {
        Self { specs: specs.into(), structures: Vec::new(), targets: Vec::new(), runtime: None }
    }

    /// Wants this structure, and what it embeds. Without any, every structure is generated.
    pub fn structure(mut self, name: impl Into<String>) -> Self {
        self.structures.push(name.into());
        self
    }

    /// Wants this target: BUILD-ARCH, such as `1709-x64`. Without any, every target is generated.
    pub fn target(mut self, name: impl Into<String>) -> Self {
        self.targets.push(name.into());
        self
    }

    /// Path of the runtime crate in generated code; `::etw_layouts_runtime` if not set.
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.runtime = Some(path.into());
        self
    }

    /// The source text: modules `axis`, `constants`, `layouts`, `members`, `structures` and `targets`.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, everything that is wrong in the specs, structures and targets that do not exist, and structures
    /// that none of the wanted targets has.
    pub fn generate(&self) -> Result<String, BuildError> {
        Ok(self.generate_with_notes()?.0)
    }

    /// The source text, and what to know of targets that are not on the version axis.
    fn generate_with_notes(&self) -> Result<(String, Vec<String>), BuildError> {
        let layouts = compile(Sources::load(&self.specs)?)?;
        let mut options = Options { structures: self.structures.clone(), ..Options::default() };
        let mut notes = Vec::new();
        for name in &self.targets {
            let choice = layouts.spec.axis.find(name).map_err(BuildError::Unknown)?;
            options.targets.insert(choice.target);
            notes.extend(choice.note);
        }
        for name in &self.structures {
            known(&layouts, name, &options)?;
        }
        options.runtime = self.runtime.clone().unwrap_or(options.runtime);
        Ok((emit_inline(&layouts, &options), notes))
    }

    /// For a build script: writes `layouts.rs` into `OUT_DIR`, and tells cargo which files to watch.
    ///
    /// Ends the build script with a message if anything is wrong.
    pub fn build(&self) {
        println!("cargo::rerun-if-changed={}", self.specs.display());
        for file in files(&self.specs).unwrap_or_default() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        let written = self.generate_with_notes().and_then(|(text, notes)| {
            notes.iter().for_each(|note| println!("cargo::warning={note}"));
            let folder = env::var_os("OUT_DIR")
                .ok_or_else(|| BuildError::Unknown("OUT_DIR is not set: call `build` from a build script".into()))?;
            Ok(fs::write(Path::new(&folder).join("layouts.rs"), text)?)
        });
        if let Err(error) = written {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }

    /// The spec files, for callers that have to watch them.
    ///
    /// # Errors
    ///
    /// Folders that cannot be read.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        files(&self.specs)
    }
}

fn known(layouts: &Layouts, name: &str, options: &Options) -> Result<(), BuildError> {
    let all = || layouts.spec.definitions.keys().map(String::as_str);
    let Some(definition) = layouts.spec.definitions.get(name) else {
        let near = crate::nearest(name, all()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(BuildError::Unknown(format!("no spec has the structure `{name}`{near}")));
    };
    if !options.targets.is_empty() && options.targets.intersection(&definition.scope).is_empty() {
        let scope = layouts.spec.axis.describe(&definition.scope);
        return Err(BuildError::Unknown(format!("`{name}` exists in {scope}, and in none of the wanted targets")));
    }
    Ok(())
}

/// Why nothing was generated.
#[derive(Debug)]
pub enum BuildError {
    /// A file cannot be read or written.
    Io(io::Error),
    /// The specs are wrong.
    Specs(Errors),
    /// A structure or target does not exist.
    Unknown(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Specs(errors) => errors.fmt(f),
            Self::Unknown(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errors> for BuildError {
    fn from(errors: Errors) -> Self {
        Self::Specs(errors)
    }
}
