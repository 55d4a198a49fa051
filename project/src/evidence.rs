//! Evidence: the layouts that facts verify, and the evidence for a member in one build.

use crate::choice::Choice;
use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetId, TargetSet};
use etw_layouts_codegen::layouts::{Info, Layouts};
use etw_layouts_codegen::registry::{ExaminedBuild, FactsFile, FactsKind, Registry};
use etw_layouts_codegen::spec::{Provenance, Unknown};
use etw_layouts_runtime::Uuid;
pub use etw_layouts_runtime::meta::Evidence;
use etw_layouts_runtime::meta::{Confidence, InferredFrom, SymbolSource};
use std::collections::{BTreeMap, BTreeSet};

/// The evidence for the facts of a user's specs.
pub const STATED: &str = "stated by the specs";

/// The targets whose symbols completely contain each structure and enumeration.
#[derive(Clone, Debug, Default)]
pub struct Confirmed(BTreeMap<String, TargetSet>);

/// The reason why no symbols verify a type at a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot<'a> {
    /// Public symbols cannot verify it, for the reason that the spec states.
    Cannot(&'a str),
    /// No symbols that contain it have been examined yet.
    Unseen,
}

/// The evidence for a member in one build, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Symbols of this build.
    Symbols,
    /// Converted symbols of this build.
    Converted,
    /// The image of this build.
    Images,
    /// A published reference that covers this build.
    Document,
    /// Other builds, or published references about other builds.
    Inferred,
    /// None: bytes whose use is unknown.
    Nothing,
}

/// The address of a global variable in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Bytes from the start of the kernel's image.
    pub at: u64,
    /// The source of the address.
    pub by: AddressBy,
}

/// The source of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBy {
    /// The kernel's own PDB.
    Pdb,
    /// A table of images that names this image.
    Image,
    /// A table of images that names only build and architecture, with the number of known images that match. The address applies
    /// to one of them.
    Build(usize),
}

impl AddressBy {
    /// The evidence for the address as text.
    pub fn evidence(self) -> String {
        match self {
            Self::Pdb => "PDB".to_owned(),
            Self::Image => "image".to_owned(),
            Self::Build(..=1) => "build".to_owned(),
            Self::Build(images) => format!("build, in one of its {images} images"),
        }
    }
}

/// The number of examined builds that have the layouts of each target.
pub fn builds(registry: &Registry, axis: &Axis) -> BTreeMap<TargetId, usize> {
    let mut counts = BTreeMap::new();
    // They are sorted, and a build with several facts_files has an entry for each.
    for same in registry.builds.chunk_by(|one, other| (one.build, one.arch) == (other.build, other.arch)) {
        if let Some(target) = axis.at(same[0].build, same[0].arch) {
            *counts.entry(target).or_default() += 1;
        }
    }
    counts
}

/// The layouts that the symbols of the examined builds verify. A target represents every revision with its layouts, up to the next target of
/// its build.
pub fn confirmed(registry: &Registry, axis: &Axis) -> Confirmed {
    let mut targets = vec![TargetSet::default(); registry.facts_files.len()];
    let is_complete = |facts_file: &FactsFile| facts_file.kind != FactsKind::Images;
    for seen in registry.builds.iter().filter(|seen| is_complete(&registry.facts_files[seen.facts_file])) {
        if let Some(target) = axis.at(seen.build, seen.arch) {
            targets[seen.facts_file].insert(target);
        }
    }
    let mut confirmed = Confirmed::default();
    for (facts_file, targets) in registry.facts_files.iter().zip(&targets).filter(|(facts_file, _)| is_complete(facts_file)) {
        for name in &facts_file.holds {
            let known = confirmed.0.entry(name.clone()).or_default();
            *known = known.union(targets);
        }
    }
    confirmed
}

/// The examined build with a PDB; of several, the one with the most known addresses.
pub fn by_pdb(registry: &Registry, guid: Uuid, age: u32) -> Option<&ExaminedBuild> {
    let is_it = |seen: &&ExaminedBuild| seen.pdb.as_ref().is_some_and(|pdb| (pdb.guid, pdb.age) == (guid, age));
    registry.builds.iter().filter(is_it).max_by_key(|seen| seen.globals.len())
}

/// The address of a global variable in a build, from the strongest evidence: its PDB, its image, or its build and architecture.
pub fn address(registry: &Registry, axis: &Axis, seen: &ExaminedBuild, name: &str) -> Option<Address> {
    let of = |seen: &ExaminedBuild, by| Some(Address { at: *seen.globals.get(name)?, by });
    let by_pdb = || of(by_pdb(registry, seen.pdb.as_ref()?.guid, seen.pdb.as_ref()?.age)?, AddressBy::Pdb);
    let by_image = || {
        let is_it = |other: &&ExaminedBuild| other.pdb.is_none() && other.image.is_some() && other.image == seen.image;
        registry.builds.iter().filter(is_it).find_map(|other| of(other, AddressBy::Image))
    };
    let by_build = || {
        let (found, images) = self::by_build(registry, axis, seen.build, seen.arch, name)?;
        of(found, AddressBy::Build(images))
    };
    by_pdb().or_else(by_image).or_else(by_build)
}

/// The entry for a build and architecture, without PDB and image, that has the address of a global variable; and the number of different
/// known images of that build and architecture.
pub fn by_build<'a>(
    registry: &'a Registry,
    axis: &Axis,
    build: Build,
    arch: Arch,
    name: &str,
) -> Option<(&'a ExaminedBuild, usize)> {
    let build = axis.canonical(build);
    let is_it =
        |seen: &&ExaminedBuild| seen.arch == arch && seen.build.revision == build.revision && axis.canonical(seen.build) == build;
    let is_placed = |seen: &&ExaminedBuild| seen.pdb.is_none() && seen.image.is_none() && seen.globals.contains_key(name);
    let found = registry.builds.iter().filter(is_placed).find(is_it)?;
    let same = || registry.builds.iter().filter(is_it);
    let images: BTreeSet<_> = same().filter_map(|seen| seen.image.as_ref()).map(|image| (image.time_stamp, image.size)).collect();
    let pdbs: BTreeSet<_> = same().filter_map(|seen| seen.pdb.as_ref()).map(|pdb| (pdb.guid, pdb.age)).collect();
    Some((found, images.len().max(pdbs.len())))
}

/// Whether an image of this build shows the offset of a member.
pub fn shows(registry: &Registry, axis: &Axis, build: Build, arch: Arch, structure: &str, member: &str) -> bool {
    let build = axis.canonical(build);
    let own = registry.builds.iter().filter(|seen| seen.arch == arch && axis.canonical(seen.build) == build);
    let mut facts_files = own.filter_map(|seen| registry.facts_files.get(seen.facts_file));
    facts_files.any(|facts_file| facts_file.shows.get(structure).is_some_and(|members| members.contains(member)))
}

impl Confirmed {
    /// The targets whose symbols contain a type.
    pub fn targets(&self, name: &str) -> TargetSet {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Whether symbols contain a type at a target.
    pub fn has(&self, name: &str, target: TargetId) -> bool {
        self.0.get(name).is_some_and(|targets| targets.contains(target))
    }

    /// The reason why no symbols verify a type at a target.
    pub fn why_not<'a>(&self, layouts: &'a Layouts, name: &str, target: TargetId) -> Option<WhyNot<'a>> {
        match layouts.unverifiable(name, target) {
            Some(reason) => Some(WhyNot::Cannot(reason)),
            None if self.has(name, target) => None,
            None => Some(WhyNot::Unseen),
        }
    }
}

impl<'a> WhyNot<'a> {
    /// The reason as text.
    pub fn text(self) -> &'a str {
        match self {
            Self::Cannot(reason) => reason,
            Self::Unseen => "no symbols of this build have been examined",
        }
    }
}

impl Source {
    /// The evidence as text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Symbols => "verified (PDB)",
            Self::Converted => "verified (converted symbols)",
            Self::Images => "verified (image)",
            Self::Document => "documented",
            Self::Inferred => "inferred",
            Self::Nothing => "unidentified",
        }
    }
}

impl Choice {
    /// The evidence for a member in this build. Call this on the choice for the structure that declares the member, because a
    /// table can verify one structure and not another. Symbols of this build are strongest, then its image if it `shows` the
    /// offset, then a published reference that covers the build. Everything else is inferred.
    pub fn source(&self, axis: &Axis, info: &Info, shows: bool) -> Source {
        match (self.confidence, info.unknown) {
            (Confidence::Verified(SymbolSource::Pdb), None) => Source::Symbols,
            (Confidence::Verified(SymbolSource::Converted), None) => Source::Converted,
            (Confidence::PartlyVerified, None) if shows => Source::Images,
            (_, Some(Unknown::Use)) => Source::Nothing,
            _ if info.source == Provenance::Document && info.covered && self.is_of_axis(axis) => Source::Document,
            _ => Source::Inferred,
        }
    }

    /// The evidence for the size of the structure, or for the value of a constant, in this build. Images show neither.
    pub fn source_of_whole(&self, axis: &Axis) -> Source {
        match self.confidence {
            Confidence::Verified(SymbolSource::Pdb) => Source::Symbols,
            Confidence::Verified(SymbolSource::Converted) => Source::Converted,
            _ if axis.documented.contains(self.target()) && self.is_of_axis(axis) => Source::Document,
            _ => Source::Inferred,
        }
    }

    /// [`source`](Self::source) as text, with the facts that are unknown. `is_own` is whether a user's spec states the member.
    pub fn known(&self, axis: &Axis, info: &Info, shows: bool, is_own: bool) -> String {
        let source = self.source(axis, info, shows);
        let more = match source {
            Source::Document if is_own => String::new(),
            Source::Document if !info.documented && info.unknown.is_none() => ", offset inferred".into(),
            Source::Inferred => self.inferred(axis, info),
            _ => String::new(),
        };
        let lacks = match info.unknown {
            Some(Unknown::Name) => ", name unknown",
            Some(Unknown::Type) => ", type unknown",
            Some(Unknown::NameAndType) => ", name and type unknown",
            Some(Unknown::Use) | None => "",
        };
        let word = if is_own && source == Source::Document { STATED } else { source.word() };
        format!("{word}{more}{lacks}")
    }

    /// The builds that a member is inferred from, as text that follows `inferred`.
    fn inferred(&self, axis: &Axis, info: &Info) -> String {
        match self.confidence {
            Confidence::Inferred(InferredFrom::Unverified { arch }) if self.leader(axis) == Some(arch) => format!(" from {arch}"),
            Confidence::Inferred(InferredFrom::Unverified { .. }) => "; not verified on this architecture".into(),
            Confidence::Inferred(InferredFrom::Branch { build }) => format!(" from {build}"),
            Confidence::Uncertain { older, newer, .. } => format!("; the layouts of {older} and {newer} differ"),
            _ => match self.confidence.neighbours() {
                [Some(older), Some(newer)] => format!(" from {older} and {newer}"),
                [Some(one), None] | [None, Some(one)] => format!(" from {one}"),
                [None, None] => match self.leader(axis) {
                    Some(leader) => format!(" from {leader}"),
                    // If the symbols of an examined build lack the structure, the target whose layouts it uses is no further evidence.
                    None if !self.is_of_axis(axis) && !matches!(self.confidence, Confidence::Documented { .. }) => {
                        format!(" from {}", axis.target_name(self.target()))
                    }
                    None => match info.source {
                        Provenance::Document => " from published references about other builds",
                        Provenance::Symbols => " from symbols of other builds",
                        Provenance::Inferred => " from other builds",
                    }
                    .into(),
                },
            },
        }
    }
}
