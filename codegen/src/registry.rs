//! The kernels whose symbols were read, and what their symbols hold.
//!
//! The version axis says which layouts there are; the registry says which of them a kernel was seen to have. A spec set without
//! facts has an empty one, and then nothing is said to be proven.

use crate::axis::{Arch, Axis, Build, TargetSet};
pub use etw_layouts_runtime::meta::{Evidence, WitnessKind};
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
    /// The GUID, its 32 hexadecimal digits read as one number.
    pub guid: u128,
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

/// The address of a global variable in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Bytes from where the kernel's image begins.
    pub at: u64,
    /// What states it.
    pub by: AddressBy,
}

/// What states an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBy {
    /// The kernel's own PDB.
    Pdb,
    /// A table of images that names this image.
    Image,
    /// A table of images that names only build and architecture, which so many known images have. It is the address in one of them.
    Build(usize),
}

impl AddressBy {
    /// What is known of the address.
    pub fn evidence(self) -> String {
        match self {
            Self::Pdb => "PDB".to_owned(),
            Self::Image => "image".to_owned(),
            Self::Build(..=1) => "build".to_owned(),
            Self::Build(images) => format!("build, in one of its {images} images"),
        }
    }
}

/// The targets at which symbols state each structure and enumeration whole.
#[derive(Clone, Debug, Default)]
pub struct Confirmed(BTreeMap<String, TargetSet>);

impl Registry {
    /// How many kernels that have the layouts of a target are there.
    pub fn kernels_of(&self, axis: &Axis, target: usize) -> usize {
        let of_target = self.kernels.iter().filter(|seen| axis.at(seen.build, seen.arch) == Some(target));
        of_target.map(|seen| (seen.build, seen.arch)).collect::<BTreeSet<_>>().len()
    }

    /// What the symbols of its kernels confirm. A target stands for every kernel that has its layouts, from its own on to the next of
    /// its build.
    pub fn confirmed(&self, axis: &Axis) -> Confirmed {
        let mut targets = vec![TargetSet::default(); self.witnesses.len()];
        for seen in &self.kernels {
            if let Some(target) = axis.at(seen.build, seen.arch) {
                targets[seen.witness].insert(target);
            }
        }
        let mut confirmed = Confirmed::default();
        for (witness, targets) in self.witnesses.iter().zip(&targets).filter(|(witness, _)| witness.kind != WitnessKind::Images) {
            for name in &witness.holds {
                let known = confirmed.0.entry(name.clone()).or_default();
                *known = known.union(targets);
            }
        }
        confirmed
    }

    /// The kernel with that program database, and if there are several, the one of which most addresses are known.
    pub fn by_pdb(&self, guid: u128, age: u32) -> Option<&Seen> {
        let is_it = |seen: &&Seen| seen.pdb.as_ref().is_some_and(|pdb| (pdb.guid, pdb.age) == (guid, age));
        self.kernels.iter().filter(is_it).max_by_key(|seen| seen.globals.len())
    }

    /// The address of a global variable in a kernel, from the best evidence: its PDB, its image, its build and architecture.
    pub fn address(&self, axis: &Axis, seen: &Seen, name: &str) -> Option<Address> {
        let of = |seen: &Seen, by| Some(Address { at: *seen.globals.get(name)?, by });
        let by_pdb = || of(self.by_pdb(seen.pdb.as_ref()?.guid, seen.pdb.as_ref()?.age)?, AddressBy::Pdb);
        let by_image = || {
            let is_it = |other: &&Seen| other.pdb.is_none() && other.image.is_some() && other.image == seen.image;
            self.kernels.iter().filter(is_it).find_map(|other| of(other, AddressBy::Image))
        };
        let by_build = || {
            let (found, images) = self.by_build(axis, seen.build, seen.arch, name)?;
            of(found, AddressBy::Build(images))
        };
        by_pdb().or_else(by_image).or_else(by_build)
    }

    /// The entry of a build and architecture, without PDB and image, that has the address of a global variable; and how many different
    /// images of them are known.
    pub fn by_build(&self, axis: &Axis, build: Build, arch: Arch, name: &str) -> Option<(&Seen, usize)> {
        let build = axis.canonical(build);
        let is_it =
            |seen: &&Seen| seen.arch == arch && seen.build.revision == build.revision && axis.canonical(seen.build) == build;
        let is_placed = |seen: &&Seen| seen.pdb.is_none() && seen.image.is_none() && seen.globals.contains_key(name);
        let found = self.kernels.iter().filter(is_placed).find(is_it)?;
        let same = || self.kernels.iter().filter(is_it);
        let images: BTreeSet<_> =
            same().filter_map(|seen| seen.image.as_ref()).map(|image| (image.time_stamp, image.size)).collect();
        let pdbs: BTreeSet<_> = same().filter_map(|seen| seen.pdb.as_ref()).map(|pdb| (pdb.guid, pdb.age)).collect();
        Some((found, images.len().max(pdbs.len())))
    }

    /// Whether an image of this very kernel shows where a member is.
    pub fn shows(&self, axis: &Axis, build: Build, arch: Arch, structure: &str, member: &str) -> bool {
        let build = axis.canonical(build);
        let own = self.kernels.iter().filter(|seen| seen.arch == arch && axis.canonical(seen.build) == build);
        let mut witnesses = own.filter_map(|seen| self.witnesses.get(seen.witness));
        witnesses.any(|witness| witness.shows.get(structure).is_some_and(|members| members.contains(member)))
    }
}

impl Confirmed {
    /// Whether symbols state a type at a target.
    pub fn has(&self, name: &str, target: usize) -> bool {
        self.0.get(name).is_some_and(|targets| targets.contains(target))
    }
}
