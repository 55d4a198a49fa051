//! A project: a spec set, the facts that it is verified against, and the files that are generated from it.

use crate::change::Changes;
use crate::events::Statements;
use crate::registry;
use crate::stored::Stored;
use crate::tables::{self, BuildTable, Stated, SymbolFile};
use crate::updates::{self, Updates};
use crate::{Error, Refusal, Remedy};
use etw_layouts_codegen::axis::Axis;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::{Sources, compile_with};
use etw_layouts_symbols::Wanted;
use rayon::prelude::*;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A spec set, the facts that it is verified against, and the files that are generated from it.
#[derive(Clone)]
pub struct Project {
    /// The root folder. Changes are written below it, and messages omit its path.
    pub root: PathBuf,
    /// The spec files.
    pub specs: Files,
    /// The reduced symbol tables; the folder need not exist yet.
    pub facts: Files,
    /// Built-in specs that complete those of the project, each with its path and text: see [`compile_with`].
    pub standard: &'static [(&'static str, &'static str)],
    /// The built-in list of Windows updates, used if the facts have none: see [`crate::updates`].
    pub listed: &'static str,
    /// The built-in tables of statements about events, each with its path and text. They are used if the facts are built in.
    pub events: &'static [(&'static str, &'static str)],
    /// What the built-in specs and facts mean, in a form that is read faster than their texts.
    pub stored: Stored,
    /// Computes the generated files, which are written when the specs change.
    pub generated: Option<Generate>,
}

/// Files of a project, in a folder or built into the program.
#[derive(Clone)]
pub enum Files {
    /// All files below a folder, with a path relative to the root of the project.
    Folder(PathBuf),
    /// Files that are built into the program, each with its path and text.
    Embedded(&'static [(&'static str, &'static str)]),
}

/// Computes the changes of generated files after a change of the specs or the facts, whose own changes are not written yet.
pub type Generate = fn(&Layouts, &Registry, &Changes) -> Result<Changes, Error>;

const BUILT_IN: &str = "cannot change the built-in specs";

/// Folder of the specs, relative to the root of a project.
const SPECS: &str = "specs";
/// Folder of the facts, relative to the root of a project.
const FACTS: &str = "facts";
/// Folder of the facts about events, relative to the folder of facts.
const EVENTS: &str = "events";

impl Project {
    /// The project in a folder with `specs` and `facts`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), ..Self::of(Files::Folder(SPECS.into()), Files::Folder(FACTS.into())) }
    }

    /// A project of specs and facts. Paths of folders are relative to the current one.
    pub fn of(specs: Files, facts: Files) -> Self {
        Self {
            root: PathBuf::new(),
            specs,
            facts,
            standard: &[],
            listed: "",
            events: &[],
            stored: Stored::default(),
            generated: None,
        }
    }

    /// The spec texts, with paths relative to the root.
    ///
    /// # Errors
    ///
    /// A folder or file cannot be read, or contains no spec.
    pub fn sources(&self) -> Result<Sources, Error> {
        let mut sources = Sources::default();
        match &self.specs {
            Files::Embedded(files) => files.iter().for_each(|(path, text)| sources.add(*path, *text)),
            Files::Folder(folder) => {
                for file in Sources::load(&self.root.join(folder))?.files() {
                    sources.add(self.shown(Path::new(&file.path)), file.text.clone());
                }
            }
        }
        Ok(sources)
    }

    /// The layouts of the specs. Their axis has the KB numbers of updates.
    ///
    /// # Errors
    ///
    /// The specs have errors, or the list of updates cannot be read.
    pub fn layouts(&self) -> Result<Layouts, Error> {
        let sources = self.sources()?;
        let mut layouts = match self.specs {
            Files::Embedded(files) if self.stored.is_of_specs(files) => self.stored.layouts(sources)?,
            _ => compile_with(sources, self.standard)?,
        };
        layouts.spec.axis.kbs = self.updates()?.kbs;
        Ok(layouts)
    }

    /// [`layouts`](Self::layouts) for reading. The built-in ones are read once in a process, and never freed, which would take as long.
    ///
    /// # Errors
    ///
    /// As [`layouts`](Self::layouts).
    pub fn shared_layouts(&self) -> Result<Cow<'static, Layouts>, Error> {
        match (&self.specs, &self.facts, self.stored.read) {
            (Files::Embedded(files), Files::Embedded(_), Some(read)) if self.stored.is_of_specs(files) => {
                if let Some(layouts) = read.get() {
                    return Ok(Cow::Borrowed(layouts));
                }
                let layouts = self.layouts()?;
                Ok(Cow::Borrowed(read.get_or_init(|| layouts)))
            }
            _ => self.layouts().map(Cow::Owned),
        }
    }

    /// The Windows updates in the list of the facts, or else in the built-in list.
    ///
    /// # Errors
    ///
    /// The list cannot be read.
    pub fn updates(&self) -> Result<Updates, Error> {
        let Files::Folder(facts) = &self.facts else { return Updates::parse(self.listed, updates::FILE) };
        let path = self.root.join(facts).join(updates::FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Updates::parse(&text, &self.shown(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Updates::parse(self.listed, updates::FILE),
            Err(error) => Err(format!("{}: {error}", self.shown(&path)).into()),
        }
    }

    /// The statements of sources about events.
    ///
    /// # Errors
    ///
    /// A table cannot be read.
    pub fn statements(&self) -> Result<Statements, Error> {
        let Files::Folder(facts) = &self.facts else {
            let tables = if matches!(self.facts, Files::Embedded([])) { &[] } else { self.events };
            return Statements::parse(tables.iter().copied());
        };
        let folder = self.root.join(facts).join(EVENTS);
        if !folder.is_dir() {
            return Ok(Statements::default());
        }
        let mut texts = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "tsv") {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", self.shown(&path)))?;
                texts.push((self.shown(&path), text));
            }
        }
        texts.sort();
        Statements::parse(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())))
    }

    /// The files of the facts.
    ///
    /// # Errors
    ///
    /// A folder cannot be read or contains no facts, or the project has no facts.
    pub fn fact_files(&self) -> Result<Vec<SymbolFile>, Error> {
        self.settled()?;
        match &self.facts {
            Files::Embedded([]) => Err(Refusal::new("no facts to verify these specs against", Remedy::Facts).into()),
            Files::Embedded(files) => Ok(files.iter().map(|&(path, text)| SymbolFile::Embedded { path, text }).collect()),
            Files::Folder(folder) => tables::files(&[self.root.join(folder)]),
        }
    }

    /// The files of the facts; empty if their folder does not exist.
    pub(crate) fn found(&self) -> Result<Vec<SymbolFile>, Error> {
        self.settled()?;
        match &self.facts {
            Files::Embedded([]) => Ok(Vec::new()),
            Files::Embedded(_) => self.fact_files(),
            Files::Folder(folder) => tables::in_folder(&self.root.join(folder)),
        }
    }

    /// The facts, one table per build; empty if their folder does not exist. Facts from images are excluded: see
    /// [`images`](Self::images).
    ///
    /// # Errors
    ///
    /// Facts cannot be read.
    pub fn tables(&self, axis: &Axis, wanted: &Wanted) -> Result<Vec<BuildTable>, Error> {
        Ok(self.symbol_facts(axis, wanted)?.into_iter().filter(|table| !table.is_partial()).collect())
    }

    /// The facts from kernel images, one table per image: the offsets of some members.
    ///
    /// # Errors
    ///
    /// Facts cannot be read.
    pub fn images(&self, axis: &Axis, wanted: &Wanted) -> Result<Vec<BuildTable>, Error> {
        Ok(self.symbol_facts(axis, wanted)?.into_iter().filter(BuildTable::is_partial).collect())
    }

    fn symbol_facts(&self, axis: &Axis, wanted: &Wanted) -> Result<Vec<BuildTable>, Error> {
        let files = self.found()?;
        let read = files.par_iter().map(|file| tables::read(file, axis, wanted, &Stated::default()));
        Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The examined builds of the facts; empty if their folder does not exist. The axis gives the builds of files that are named
    /// by a label.
    ///
    /// # Errors
    ///
    /// Facts cannot be read.
    pub fn registry(&self, axis: &Axis) -> Result<Registry, Error> {
        if matches!(self.facts, Files::Embedded(files) if self.stored.is_of_facts(files)) {
            return self.stored.registry();
        }
        let files = self.found()?;
        let of_file = |file| Ok::<_, Error>(registry::of(&tables::read(file, axis, &Wanted::All, &Stated::default())?));
        Ok(registry::merged(files.par_iter().map(of_file).collect::<Result<Vec<_>, _>>()?))
    }

    /// The folders of specs and facts of a project that can be changed.
    ///
    /// # Errors
    ///
    /// Specs or facts are built into the program, or there is no folder of facts.
    pub fn folders(&self) -> Result<(&Path, &Path), Error> {
        match (&self.specs, &self.facts) {
            (Files::Folder(specs), Files::Folder(facts)) => Ok((specs, facts)),
            (Files::Folder(_), _) => Err(Refusal::new("no folder for the facts of new builds", Remedy::FactsFolder).into()),
            _ => Err(Refusal::new(BUILT_IN, Remedy::Folders).into()),
        }
    }

    /// The folder of specs of a project that can be changed.
    ///
    /// # Errors
    ///
    /// The specs are built into the program.
    pub fn folder(&self) -> Result<&Path, Error> {
        match &self.specs {
            Files::Folder(specs) => Ok(specs),
            Files::Embedded(_) => {
                Err(Refusal::new("no folder of specs: the built-in specs are part of the program", Remedy::SpecsFolder).into())
            }
        }
    }

    /// A path in the form that messages show.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string().replace('\\', "/")
    }
}
