//! The examined builds, as emitters print them: a plain table. What it is evidence of, is decided elsewhere.

use crate::axis::{Arch, Build};
use etw_layouts_runtime::Uuid;
pub use etw_layouts_runtime::meta::WitnessKind;
use std::collections::{BTreeMap, BTreeSet};

/// The kernels whose symbols were read, and which facts each has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    /// The kernels, by build, then by architecture. A kernel of which there are several witnesses is there once for each.
    pub kernels: Vec<Seen>,
    /// The sets of facts. Many kernels share one.
    pub witnesses: Vec<Witness>,
}

/// A kernel, and one set of facts that its symbols state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Build and revision.
    pub build: Build,
    /// The architecture.
    pub arch: Arch,
    /// Its program database, if known.
    pub pdb: Option<Pdb>,
    /// Its image, if known.
    pub image: Option<Image>,
    /// Addresses of its global variables, in bytes from where its image begins: of this PDB if it is known, else of this image; and of
    /// one of the images of this build and architecture if neither is known.
    pub globals: BTreeMap<String, u64>,
    /// Index in [`Registry::witnesses`].
    pub witness: usize,
}

/// The identity of a program database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdb {
    /// The file's name, such as `ntkrnlmp.pdb`.
    pub name: String,
    /// The GUID.
    pub guid: Uuid,
    /// How often the file was written since its GUID was made.
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

/// A set of facts: one facts file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The file's name, such as `10.0.19041.329-x64.facts`.
    pub name: String,
    /// What its facts are worth.
    pub kind: WitnessKind,
    /// The structures and enumerations that it states.
    pub holds: BTreeSet<String>,
    /// The members whose offsets it shows, by their structures, if images were looked at for these and for nothing else.
    pub shows: BTreeMap<String, BTreeSet<String>>,
}
