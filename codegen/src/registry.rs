//! The examined builds as a plain table for emitters. The evidence is evaluated elsewhere.

use crate::axis::{Arch, Build};
use etw_layouts_runtime::Uuid;
pub use etw_layouts_runtime::meta::FactsKind;
use std::collections::{BTreeMap, BTreeSet};

/// The examined builds, and the facts of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    /// The examined builds, by build, then by architecture. A build with several facts files has an entry for each.
    pub builds: Vec<ExaminedBuild>,
    /// The facts files. Many builds share one.
    pub facts_files: Vec<FactsFile>,
}

/// An examined build, and one facts file about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExaminedBuild {
    /// Build and revision.
    pub build: Build,
    /// The architecture.
    pub arch: Arch,
    /// Its PDB, if known.
    pub pdb: Option<Pdb>,
    /// Its image, if known.
    pub image: Option<Image>,
    /// Addresses of its global variables, in bytes from the start of its image. They apply to this PDB if it is known, or else to
    /// this image. If neither is known, they apply to one of the images of this build and architecture.
    pub globals: BTreeMap<String, u64>,
    /// Index in [`Registry::facts_files`].
    pub facts_file: usize,
}

/// The identity of a PDB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdb {
    /// The file's name, such as `ntkrnlmp.pdb`.
    pub name: String,
    /// The GUID.
    pub guid: Uuid,
    /// The number of times that the file was written since its GUID was created.
    pub age: u32,
}

/// The identity of a kernel's image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The file's name, such as `ntoskrnl.exe`.
    pub name: String,
    /// `TimeDateStamp` of its header.
    pub time_stamp: u32,
    /// `SizeOfImage` of its header, in bytes.
    pub size: u32,
}

/// A facts file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactsFile {
    /// The file's name, such as `10.0.19041.329-x64.facts`.
    pub name: String,
    /// The kind of evidence.
    pub kind: FactsKind,
    /// The structures and enumerations that it contains.
    pub holds: BTreeSet<String>,
    /// The members whose offsets it shows, by structure, if it consists of facts from images.
    pub shows: BTreeMap<String, BTreeSet<String>>,
}
