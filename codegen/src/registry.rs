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
    /// Where its global variables are: bytes from where its image begins. Of a kernel without a known program database, none.
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
