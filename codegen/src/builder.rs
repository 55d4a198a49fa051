//! Generation of one Rust source from specs, in a build script or in any other program.

use crate::emit::rust::{Options, TableFile, emit_inline};
use crate::layouts::Layouts;
use crate::remarks::remarks;
use crate::source::{At, STANDARD};
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
/// With the default feature `standard`, the built-in specs of Windows complete your specs. They provide the version axis, unless
/// your specs have an axis of their own that does not extend it. They also provide scalars, and types that members embed and no
/// spec defines, such as `LIST_ENTRY` and `UNICODE_STRING`. For the rules, see [`compile_with`]. Without a [`table`](Self::table) no build
/// counts as examined.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    root: PathBuf,
    specs: Vec<Specs>,
    structures: Vec<String>,
    targets: Vec<String>,
    runtime: Option<String>,
    table: Option<PathBuf>,
}

#[derive(Clone, Debug)]
enum Specs {
    /// A file or folder.
    Path(PathBuf),
    /// A text, and its name in errors.
    Text(String, String),
}

/// The output of a [`Builder`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Generated {
    /// The source text: modules `constants`, `members`, `structures` and `targets`, and the private module `layouts`. `structures` contains
    /// the table of the layouts at all targets; types exist for the selected targets.
    pub text: String,
    /// A note for each selected target that is not on the version axis, with the target that is used in its place; for each selected
    /// structure without `size`; and for each of its pointers to a type that is probably misspelt.
    pub notes: Vec<Note>,
}

/// A note on a selected structure or target, or on a spec.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Note {
    /// The name that was selected; empty for a note on a spec.
    pub name: String,
    /// The text of the note, which begins with the place of the cause if it is in a spec.
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

    /// Reads this text as well, as a file with this name.
    pub fn text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.specs.push(Specs::Text(name.into(), text.into()));
        self
    }

    /// Sets the folder that relative paths start from, and that errors omit. The default is the current folder.
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.root = folder.into();
        self
    }

    /// Selects this structure and the types that it embeds. Without a selection, every structure is generated.
    pub fn structure(mut self, name: impl Into<String>) -> Self {
        self.structures.push(name.into());
        self
    }

    /// Selects this target: BUILD-ARCH, such as `1709-x64`. Without a selection, every target is generated.
    pub fn target(mut self, name: impl Into<String>) -> Self {
        self.targets.push(name.into());
        self
    }

    /// Sets the path of the runtime crate in generated code. The default is `::etw_layouts_runtime`.
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.runtime = Some(path.into());
        self
    }

    /// Uses this file, which `etw export layouts` wrote from the same specs and from facts, as the table of layouts. Layouts that are selected at
    /// run time then have the confidence that the facts give them. Relative paths start as those of specs.
    pub fn table(mut self, file: impl Into<PathBuf>) -> Self {
        self.table = Some(file.into());
        self
    }

    /// Generates the types.
    ///
    /// # Errors
    ///
    /// A file cannot be read, the specs have errors or too many parts for a table of layouts, a selected structure or target does not
    /// exist, no selected target has a selected structure, or the table is corrupt or has other layouts than the specs.
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
        let note = |remark: At<String>| {
            let message = format!("{}: {}", layouts.spec.sources.place(remark.span), remark.value);
            Note { name: String::new(), message }
        };
        notes.extend(remarks(&layouts, &self.structures).into_iter().map(note));
        options.runtime = self.runtime.clone().unwrap_or(options.runtime);
        options.table = self.table_file()?;
        Ok(Generated { text: emit_inline(&layouts, &options).map_err(BuildError::Table)?, notes })
    }

    /// The readable part of the specs, even if they have errors. Callers can use its names without generated types.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
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

    fn table_file(&self) -> io::Result<Option<TableFile>> {
        let Some(file) = &self.table else { return Ok(None) };
        let path = self.root.join(file);
        let read = std::path::absolute(&path)
            .and_then(|path| Ok(TableFile { bytes: fs::read(&path)?, path: path.display().to_string() }));
        read.map(Some).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    fn layouts(&self) -> Result<Layouts, BuildError> {
        Ok(compile_with(self.sources()?, STANDARD)?)
    }

    /// For a build script: writes `layouts.rs` into `OUT_DIR`, and tells Cargo which files to watch.
    ///
    /// On any error, ends the build script with a message.
    pub fn build(&self) {
        for path in self.paths().chain(self.table.iter().map(|file| self.root.join(file))) {
            // Cargo also watches the contents of folders, including new files.
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
    /// A folder cannot be read.
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

/// The reason why a selected structure cannot be generated.
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

/// The reason why nothing was generated.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A file cannot be read or written.
    Io(io::Error),
    /// The specs have errors.
    Specs(Errors),
    /// The specs have more parts than a table of layouts can number, or the given table is corrupt or has other layouts.
    Table(String),
    /// Structures or targets do not exist. Never empty.
    Unknown(Vec<Note>),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Specs(errors) => errors.fmt(f),
            Self::Table(message) => f.write_str(message),
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
