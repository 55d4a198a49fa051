//! Generation from a build script, or from any program: specs in, one Rust source out.

use crate::emit::rust::{Options, emit_inline};
use crate::layouts::Layouts;
use crate::source::STANDARD;
use crate::spec::Spec;
use crate::standard::completed;
use crate::{Errors, Sources, compile_with, files, nearest};
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
///
/// With the feature `standard`, which is there by default, specs are completed with what Windows has: the version axis,
/// unless they have their own that does not extend it, and each scalar and each type that a member embeds and no spec defines, such as `LIST_ENTRY` and
/// `UNICODE_STRING` (for the rules, see [`compile_with`]). Of types on that axis it is not said that symbol data confirms them, since nothing
/// has held them against any.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    root: PathBuf,
    specs: Vec<Specs>,
    structures: Vec<String>,
    targets: Vec<String>,
    runtime: Option<String>,
}

#[derive(Clone, Debug)]
enum Specs {
    /// A file or folder.
    Path(PathBuf),
    /// A text, and the name that errors show.
    Text(String, String),
}

/// What a [`Builder`] generates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Generated {
    /// The source text: modules `axis`, `constants`, `kernels`, `layouts`, `members`, `structures` and `targets`.
    pub text: String,
    /// Wanted targets that are not on the version axis, each with what is taken in its place.
    pub notes: Vec<Note>,
}

/// Something about a structure or target that was asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Note {
    /// What was asked for.
    pub name: String,
    /// What is to be said of it.
    pub message: String,
}

impl Builder {
    /// Reads the specs of a file or folder.
    pub fn new(specs: impl Into<PathBuf>) -> Self {
        Self::default().specs(specs)
    }

    /// Reads the specs of this file or folder as well.
    pub fn specs(mut self, specs: impl Into<PathBuf>) -> Self {
        self.specs.push(Specs::Path(specs.into()));
        self
    }

    /// Reads this text as well, as a file of that name.
    pub fn text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.specs.push(Specs::Text(name.into(), text.into()));
        self
    }

    /// The folder that paths start from, and that errors do not show; the current one if not set.
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.root = folder.into();
        self
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

    /// Generates the types.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, everything that is wrong in the specs, structures and targets that do not exist, and structures
    /// that none of the wanted targets has.
    pub fn generate(&self) -> Result<Generated, BuildError> {
        let layouts = self.layouts()?;
        let mut options = Options { structures: self.structures.clone(), ..Options::default() };
        let (mut notes, mut unknown) = (Vec::new(), Vec::new());
        for name in &self.targets {
            let note = |message| Note { name: name.clone(), message };
            match layouts.spec.axis.find(name) {
                Ok(asked) => {
                    options.targets.insert(asked.target);
                    notes.extend(asked.note(&layouts.spec.axis).map(note));
                }
                Err(message) => unknown.push(note(message)),
            }
        }
        for name in &self.structures {
            unknown.extend(missing(&layouts, name, &options).map(|message| Note { name: name.clone(), message }));
        }
        if !unknown.is_empty() {
            return Err(BuildError::Unknown(unknown));
        }
        options.runtime = self.runtime.clone().unwrap_or(options.runtime);
        Ok(Generated { text: emit_inline(&layouts, &options), notes })
    }

    /// What can be read of the specs, whatever is wrong with them: the names, for callers that go on without the types.
    ///
    /// # Errors
    ///
    /// Files that cannot be read.
    pub fn spec(&self) -> io::Result<Spec> {
        self.sources().map(|sources| completed(sources, STANDARD).0.spec)
    }

    fn sources(&self) -> io::Result<Sources> {
        let mut sources = Sources::default();
        for specs in &self.specs {
            match specs {
                Specs::Text(name, text) => sources.add(name, text),
                Specs::Path(path) => sources.read(&self.root, path)?,
            }
        }
        Ok(sources)
    }

    fn layouts(&self) -> Result<Layouts, BuildError> {
        Ok(compile_with(self.sources()?, STANDARD)?)
    }

    /// For a build script: writes `layouts.rs` into `OUT_DIR`, and names the files that cargo watches.
    ///
    /// Ends the build script with a message if anything is wrong.
    pub fn build(&self) {
        for path in self.paths() {
            // Cargo looks into folders, and so sees what is added.
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let written = self.generate().and_then(|generated| {
            generated.notes.iter().for_each(|note| println!("cargo::warning={}", note.message));
            let folder = env::var_os("OUT_DIR")
                .ok_or_else(|| io::Error::other("OUT_DIR is not set: call `build` from a build script, `generate` elsewhere"))?;
            let path = Path::new(&folder).join("layouts.rs");
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            Ok(fs::write(&path, generated.text).map_err(named)?)
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
        let mut list = Vec::new();
        for path in self.paths() {
            list.extend(files(&path)?);
        }
        Ok(list)
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.specs.iter().filter_map(|specs| match specs {
            Specs::Path(path) => Some(self.root.join(path)),
            Specs::Text(..) => None,
        })
    }
}

/// Why a wanted structure cannot be generated.
fn missing(layouts: &Layouts, name: &str, options: &Options) -> Option<String> {
    let all = || layouts.spec.definitions.keys().map(String::as_str);
    let Some(definition) = layouts.spec.definitions.get(name) else {
        let near = nearest(name, all()).map(|near| format!("; did you mean `{near}`?"));
        let near = near.unwrap_or_else(|| format!("; the specs define {}", all().collect::<Vec<_>>().join(", ")));
        return Some(format!("unknown structure `{name}`{near}"));
    };
    if options.targets.is_empty() || !options.targets.intersection(&definition.scope).is_empty() {
        return None;
    }
    let scope = layouts.spec.axis.describe(&definition.scope);
    Some(format!("`{name}` exists in {scope}, and in none of the selected targets"))
}

/// Why nothing was generated.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A file cannot be read or written.
    Io(io::Error),
    /// The specs are wrong.
    Specs(Errors),
    /// Structures or targets do not exist. Never empty.
    Unknown(Vec<Note>),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Specs(errors) => errors.fmt(f),
            Self::Unknown(list) => {
                let messages: Vec<_> = list.iter().map(|note| note.message.as_str()).collect();
                f.write_str(&messages.join("\n"))
            }
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
