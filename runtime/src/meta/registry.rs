//! The examined builds, and what was examined of each.

use super::axis::{Arch, Build};
use super::line::Evidence;

/// The examined builds: those whose symbols or image were read and verified against the layouts.
#[derive(Debug)]
#[non_exhaustive]
pub struct Registry {
    /// The builds, by build, then by architecture.
    pub kernels: &'static [Seen],
    /// The places in `kernels` of those whose PDB is known, by GUID, then by age.
    pub pdbs: &'static [u32],
    /// The places in `kernels` of those whose image is known, by time stamp, then by size.
    pub images: &'static [u32],
    /// The sets of facts that were read of them.
    pub witnesses: &'static [Witness],
}

/// An examined build.
#[derive(Debug)]
#[non_exhaustive]
pub struct Seen {
    /// Build and revision, as the version axis counts them: an update of 10.0.19045 is one of 10.0.19041.
    pub build: Build,
    /// The architecture.
    pub arch: Arch,
    /// Its symbol file, if known.
    pub pdb: Option<&'static Pdb>,
    /// Its image, if known.
    pub image: Option<Image>,
    /// Addresses of its global variables, by name: bytes from where its image begins. They are of this PDB if it is known, else of this
    /// image; and of one of the images of this build and architecture if neither is known: see [`Registry::by_build`].
    pub globals: &'static [(&'static str, u64)],
    /// The place in [`Registry::witnesses`] of the facts that it has.
    pub witness: u32,
}

/// What tells a symbol file from every other: what the debug directory of an image says of its PDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pdb {
    /// The GUID as it is written, read as one number of 32 hexadecimal digits.
    pub guid: u128,
    /// The age.
    pub age: u32,
}

/// What tells an image from others, as symbol servers and crash dumps name it: two fields of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Image {
    /// `TimeDateStamp`, which newer images have as a hash.
    pub time_stamp: u32,
    /// `SizeOfImage`, in bytes.
    pub size: u32,
}

/// A set of facts, which one kernel has or many.
#[derive(Debug)]
#[non_exhaustive]
pub struct Witness {
    /// Its name: that of the facts file.
    pub name: &'static str,
    /// What the facts were read from.
    pub kind: WitnessKind,
}

/// What facts were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WitnessKind {
    /// The kernel's own symbols.
    Symbols,
    /// Symbols that somebody converted, which loses some of what they say.
    Converted,
    /// Images, which show the offsets of some members.
    Images,
}

impl Registry {
    /// That of axes none of whose builds was examined.
    pub const EMPTY: &'static Self = &Self { kernels: &[], pdbs: &[], images: &[], witnesses: &[] };

    /// The kernel with that symbol file.
    pub fn by_pdb(&self, pdb: Pdb) -> Option<&'static Seen> {
        self.find(self.pdbs, |seen| seen.pdb.copied(), pdb)
    }

    /// The kernel with that image. A time stamp that many images share, such as 0, tells little: the size decides.
    pub fn by_image(&self, image: Image) -> Option<&'static Seen> {
        self.find(self.images, |seen| seen.image, image)
    }

    /// Addresses of global variables in the kernel of a build, an architecture and an image, from a table that names only build and
    /// architecture. None if the table may be of another image: if this is not the only known one; and if no image is known, but a PDB, or
    /// the revision is 0, which may stand for an unknown one.
    pub fn by_build(&self, build: Build, arch: Arch, image: Option<Image>) -> &'static [(&'static str, u64)] {
        let same = || self.of_build(build.number).iter().filter(move |seen| seen.arch == arch && seen.build == build);
        let mut images = same().filter_map(|seen| seen.image);
        let is_only = match images.next() {
            Some(first) => Some(first) == image && images.all(|other| other == first),
            None => build.revision != 0 && same().all(|seen| seen.pdb.is_none()),
        };
        let found = same().find(|seen| seen.pdb.is_none() && seen.image.is_none() && !seen.globals.is_empty());
        found.filter(|_| is_only).map_or(&[], |seen| seen.globals)
    }

    fn find<K: Ord>(&self, sorted: &[u32], key: impl Fn(&Seen) -> Option<K>, wanted: K) -> Option<&'static Seen> {
        let seen = |place: &u32| self.kernels.get(*place as usize);
        let at = sorted.binary_search_by(|place| seen(place).and_then(&key).as_ref().cmp(&Some(&wanted)));
        seen(sorted.get(at.ok()?)?)
    }

    /// The kernels of a build, oldest first.
    pub fn of_build(&self, number: [u32; 3]) -> &'static [Seen] {
        let start = self.kernels.partition_point(|seen| seen.build.number < number);
        let end = self.kernels.partition_point(|seen| seen.build.number <= number);
        self.kernels.get(start..end).unwrap_or_default()
    }
}

impl Pdb {
    /// From the bytes of the GUID as an image's debug directory (`RSDS`) or a PDB has them.
    pub const fn from_bytes(guid: [u8; 16], age: u32) -> Self {
        let [a0, a1, a2, a3, b0, b1, c0, c1, rest @ ..] = guid;
        let [d0, d1, d2, d3, d4, d5, d6, d7] = rest;
        // Three of its fields are little-endian numbers; written, each has its highest digit first.
        let written = [a3, a2, a1, a0, b1, b0, c1, c0, d0, d1, d2, d3, d4, d5, d6, d7];
        Self { guid: u128::from_be_bytes(written), age }
    }
}

impl WitnessKind {
    /// What facts of this kind show of a structure that they contain, or do not contain. Images show nothing of most.
    pub fn evidence(self, holds: bool) -> Option<Evidence> {
        match (self, holds) {
            (Self::Symbols, true) => Some(Evidence::Symbols),
            (Self::Converted, true) => Some(Evidence::Converted),
            (Self::Images, true) => Some(Evidence::Partly),
            (Self::Images, false) => None,
            (_, false) => Some(Evidence::Lacks),
        }
    }
}
