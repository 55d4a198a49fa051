//! The examined builds, with their sources.

use super::axis::{Arch, Build};
use super::line::Evidence;
use uuid::Uuid;

/// The examined builds: their symbols or image were read and verified against the layouts.
#[derive(Debug)]
#[non_exhaustive]
pub struct Registry {
    /// The builds, by build, then by architecture.
    pub kernels: &'static [Seen],
    /// Indices in `kernels` of the builds with a known PDB, sorted by GUID and age.
    pub(crate) pdbs: &'static [u32],
    /// Indices in `kernels` of the builds with a known image, sorted by time stamp and size.
    pub(crate) images: &'static [u32],
    /// The sets of facts about them.
    pub witnesses: &'static [Witness],
}

/// An examined build.
#[derive(Debug)]
#[non_exhaustive]
pub struct Seen {
    /// Build and revision in the numbering of the version axis: an update of 10.0.19045 is one of 10.0.19041.
    pub build: Build,
    /// The architecture.
    pub arch: Arch,
    /// Symbol file, if known.
    pub pdb: Option<Pdb>,
    /// Image, if known.
    pub image: Option<Image>,
    /// Addresses of its global variables, by name, in bytes from the image base. They are valid for this PDB if it is known,
    /// otherwise for this image; if neither is known, for one of the images of this build and architecture: see
    /// [`Registry::by_build`].
    pub globals: &'static [(&'static str, u64)],
    /// Index of its facts in [`Registry::witnesses`].
    pub witness: u32,
}

/// Identity of a symbol file, as in the debug directory of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pdb {
    /// GUID.
    pub guid: Uuid,
    /// The age.
    pub age: u32,
}

/// Identity of an image, as used by symbol servers and crash dumps: two members of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Image {
    /// `TimeDateStamp`, which is a hash in newer images.
    pub time_stamp: u32,
    /// `SizeOfImage`, in bytes.
    pub size: u32,
}

/// A set of facts, for one or many builds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Witness {
    /// Name of the facts file.
    pub name: &'static str,
    /// Source of the facts.
    pub kind: WitnessKind,
}

/// Source of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WitnessKind {
    /// The symbols of the kernel.
    Symbols,
    /// Converted symbols, which lost some information.
    Converted,
    /// Images, which show the offsets of some members.
    Images,
}

impl Registry {
    /// The registry of axes without examined builds.
    pub const EMPTY: &'static Self = &Self { kernels: &[], pdbs: &[], images: &[], witnesses: &[] };

    /// The build with a symbol file.
    pub fn by_pdb(&self, pdb: Pdb) -> Option<&'static Seen> {
        self.find(self.pdbs, |seen| seen.pdb, pdb)
    }

    /// The build with an image. If many images share a time stamp, such as 0, the size decides.
    pub fn by_image(&self, image: Image) -> Option<&'static Seen> {
        self.find(self.images, |seen| seen.image, image)
    }

    /// Addresses of global variables for a build, architecture and image, from a table by build and architecture only. Empty if
    /// the table may be of another image: `image` is not the only known one; or no image is known, but a PDB is; or the revision
    /// is 0, which can mean unknown.
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

    /// The examined revisions of a build, oldest first.
    pub fn of_build(&self, number: [u32; 3]) -> &'static [Seen] {
        let start = self.kernels.partition_point(|seen| seen.build.number < number);
        let end = self.kernels.partition_point(|seen| seen.build.number <= number);
        self.kernels.get(start..end).unwrap_or_default()
    }
}

impl Pdb {
    /// Converts the bytes of the GUID, as in an image's debug directory (`RSDS`) or a PDB.
    pub const fn from_bytes(guid: [u8; 16], age: u32) -> Self {
        Self { guid: Uuid::from_bytes_le(guid), age }
    }
}

impl WitnessKind {
    /// The keyword in JSON documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Symbols => "symbols",
            Self::Converted => "converted",
            Self::Images => "images",
        }
    }

    /// Evidence of facts of this kind for a structure that they contain or lack. Images give no evidence about a structure that
    /// they lack.
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
