//! Specs and facts in a form that is read faster than their texts: see [`etw_layouts_codegen::stored`].
//!
//! The bytes begin with a checksum of the texts that they were made from. Other texts, such as those of an edited spec, are read themselves.

use crate::change::Changes;
use crate::{Error, Project};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::{Sources, stored};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The bytes of specs and facts that are built into a program; empty if it has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stored {
    /// Made by [`specs`].
    pub specs: &'static [u8],
    /// Made by [`facts`].
    pub facts: &'static [u8],
    /// The layouts of `specs`, once they are read: see [`Project::shared_layouts`].
    pub read: Option<&'static OnceLock<Layouts>>,
}

/// The bytes of specs and their layouts.
pub fn specs(layouts: &Layouts) -> Vec<u8> {
    let files = layouts.spec.sources.files().iter();
    let sum = checksum(files.map(|file| (file.path.as_str(), file.text.as_bytes())));
    [&sum[..], &stored::layouts(layouts)].concat()
}

/// The bytes of the facts of a project, after changes that are not written yet. `registry` has their examined builds.
///
/// # Errors
///
/// Facts cannot be read.
pub fn facts(project: &Project, registry: &Registry, changes: &Changes) -> Result<Vec<u8>, Error> {
    let mut files = BTreeMap::new();
    for file in project.found()? {
        files.insert(project.shown(file.path()), file.bytes()?);
    }
    for (path, bytes) in changes.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "facts")) {
        let path = project.shown(path);
        match bytes {
            Some(bytes) => drop(files.insert(path, bytes.into())),
            None => drop(files.remove(&path)),
        }
    }
    let files = files.iter().map(|(path, bytes)| (path.as_str(), &**bytes));
    Ok([&checksum(files)[..], &stored::registry(registry)].concat())
}

impl Stored {
    /// Whether it has the layouts of specs with these texts.
    pub(crate) fn is_of_specs(&self, files: &[(&str, &str)]) -> bool {
        is_of(self.specs, files)
    }

    /// Whether it has the examined builds of facts with these texts.
    pub(crate) fn is_of_facts(&self, files: &[(&str, &str)]) -> bool {
        is_of(self.facts, files)
    }

    /// The layouts of the specs with these texts.
    ///
    /// # Errors
    ///
    /// The bytes are damaged.
    pub(crate) fn layouts(&self, sources: Sources) -> Result<Layouts, Error> {
        stored::read_layouts(self.specs.get(SUM..).unwrap_or_default(), sources).ok_or_else(|| damaged("specs"))
    }

    /// The examined builds.
    ///
    /// # Errors
    ///
    /// The bytes are damaged.
    pub(crate) fn registry(&self) -> Result<Registry, Error> {
        stored::read_registry(self.facts.get(SUM..).unwrap_or_default()).ok_or_else(|| damaged("facts"))
    }
}

fn damaged(what: &str) -> Error {
    format!(
        "damaged program: its stored {what} cannot be read; install it again, or run `cargo xtask generate` and build it again"
    )
    .into()
}

/// Bytes of a checksum.
const SUM: usize = 4;

fn is_of(bytes: &[u8], files: &[(&str, &str)]) -> bool {
    let files = files.iter().map(|(path, text)| (*path, text.as_bytes()));
    bytes.first_chunk() == Some(&checksum(files))
}

/// The checksum of paths and texts.
fn checksum<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> [u8; SUM] {
    let mut sum = crc32fast::Hasher::new();
    for part in files.into_iter().flat_map(|(path, text)| [path.as_bytes(), text]) {
        sum.update(&(part.len() as u64).to_le_bytes());
        sum.update(part);
    }
    sum.finalize().to_le_bytes()
}
