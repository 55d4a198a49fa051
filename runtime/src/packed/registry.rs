//! The version axis and the examined builds of a table.

use super::format::{self, NONE};
use super::{Layouts, partition};
use crate::meta::{Arch, Build, FactsKind, Image, Pdb, UpdateFacts};
use uuid::Uuid;

/// A build of the version axis.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Revision<'a> {
    /// Build and revision.
    pub build: Build,
    /// Name of the release, such as `1709`.
    pub label: &'a str,
    table: Layouts<'a>,
    record: format::Revision,
}

/// A change delivered by servicing, on several branches at about the same time.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Update<'a> {
    /// Its name, such as `2022-01`.
    pub name: &'a str,
    table: Layouts<'a>,
    record: format::Update,
}

/// An examined build.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExaminedBuild<'a> {
    /// Build and revision in the numbering of the version axis: an update of 10.0.19045 is one of 10.0.19041.
    pub build: Build,
    /// The architecture.
    pub arch: Arch,
    /// Symbol file, if known.
    pub pdb: Option<Pdb>,
    /// Image, if known.
    pub image: Option<Image>,
    /// Its facts.
    pub facts_file: FactsFile<'a>,
    table: Layouts<'a>,
    record: format::ExaminedBuild,
}

/// A set of facts, for one or many builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FactsFile<'a> {
    /// Name of the facts file.
    pub name: &'a str,
    /// Source of the facts.
    pub kind: FactsKind,
}

impl<'a> Layouts<'a> {
    /// The builds of the version axis, oldest first.
    pub fn revisions(&self) -> impl Iterator<Item = Revision<'a>> + Clone + use<'a> {
        let this = *self;
        (0..this.count::<format::Revision>()).filter_map(move |at| this.revision(at))
    }

    /// The named updates, oldest first.
    pub fn updates(&self) -> impl Iterator<Item = Update<'a>> + use<'a> {
        let table = *self;
        table.all::<format::Update>().map(move |record| Update { name: table.text(record.name), table, record })
    }

    /// The examined builds, by build, then by architecture.
    pub fn examined(&self) -> impl Iterator<Item = ExaminedBuild<'a>> + use<'a> {
        let this = *self;
        (0..this.count::<format::ExaminedBuild>()).filter_map(move |at| this.seen(at))
    }

    /// The sets of facts about the examined builds.
    pub fn facts_files(&self) -> impl Iterator<Item = FactsFile<'a>> + use<'a> {
        let this = *self;
        (0..this.count::<format::FactsFile>()).filter_map(move |at| this.facts_file(at))
    }

    /// The global variables that the specs define. A build has some of them.
    pub fn variables(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let this = *self;
        this.all::<format::Variable>().map(move |variable| this.text(variable.name))
    }

    /// The build with a symbol file.
    pub fn by_pdb(&self, pdb: Pdb) -> Option<ExaminedBuild<'a>> {
        let key = |at: usize| self.record::<format::Pdb>(at).map(|it| (it.guid, it.age));
        let wanted = Some((pdb.guid.as_u128(), pdb.age));
        let at = partition(0, self.count::<format::Pdb>(), |at| key(at) < wanted);
        self.record::<format::Pdb>(at).filter(|_| key(at) == wanted).and_then(|found| self.seen(found.seen.into()))
    }

    /// The build with an image. If many images share a time stamp, such as 0, the size decides.
    pub fn by_image(&self, image: Image) -> Option<ExaminedBuild<'a>> {
        let key = |at: usize| self.record::<format::Image>(at).map(|it| (it.time_stamp, it.size));
        let wanted = Some((image.time_stamp, image.size));
        let at = partition(0, self.count::<format::Image>(), |at| key(at) < wanted);
        self.record::<format::Image>(at).filter(|_| key(at) == wanted).and_then(|found| self.seen(found.seen.into()))
    }

    /// The examined build with addresses of global variables for a build, architecture and image, from a table by build and architecture
    /// only. `None` if the table may be of another image: `image` is not the only known one; or no image is known, but a PDB is; or the
    /// revision is 0, which can mean unknown.
    pub fn by_build(&self, build: Build, arch: Arch, image: Option<Image>) -> Option<ExaminedBuild<'a>> {
        let same = || self.examined_of(Some(build.number)).filter_map(|record| self.seen_of(record));
        let same = || same().filter(|seen| seen.arch == arch && seen.build == build);
        let mut images = same().filter_map(|seen| seen.image);
        let is_only = match images.next() {
            Some(first) => Some(first) == image && images.all(|other| other == first),
            None => build.revision != 0 && same().all(|seen| seen.pdb.is_none()),
        };
        same().find(|seen| seen.pdb.is_none() && seen.image.is_none() && seen.record.global_count > 0).filter(|_| is_only)
    }

    /// The build on the axis that is identical to a build. The revision is kept; 0 becomes the first one, because no revision with
    /// that number has a lower revision.
    pub fn canonical(&self, build: Build) -> Build {
        self.shared(build).map_or(build, |(own, first)| {
            let revision = if build.revision == 0 { first.revision } else { build.revision };
            Build { number: own.build.number, revision }
        })
    }

    /// The build on the axis that a build is identical to, and the build with its first revision.
    pub(super) fn shared(&self, build: Build) -> Option<(Revision<'a>, Build)> {
        self.revisions().find_map(|revision| Some((revision, revision.shared().find(|other| other.number == build.number)?)))
    }

    pub(super) fn revision(&self, at: usize) -> Option<Revision<'a>> {
        let record = self.record::<format::Revision>(at)?;
        let build = self.build(record.number, record.revision);
        Some(Revision { build, label: self.text(record.label), table: *self, record })
    }

    /// The records of the examined revisions of a build, or of all builds.
    pub(super) fn examined_of(&self, number: Option<[u32; 3]>) -> impl Iterator<Item = format::ExaminedBuild> + use<'a> {
        let count = self.count::<format::ExaminedBuild>();
        let [start, end] = number.map_or([0, count], |number| {
            let at = |is_before: &dyn Fn([u32; 3]) -> bool| {
                partition(0, count, |at| {
                    self.record::<format::ExaminedBuild>(at).is_some_and(|it| is_before(self.number(it.number)))
                })
            };
            [at(&|own| own < number), at(&|own| own <= number)]
        });
        self.records(start as u32, end.saturating_sub(start))
    }

    /// A build by the index of its number and its revision.
    pub(super) fn build(&self, number: u16, revision: u32) -> Build {
        Build { number: self.number(number), revision }
    }

    fn number(&self, at: u16) -> [u32; 3] {
        self.record::<format::Number>(at.into()).map_or([0; 3], |it| [it.major, it.minor, it.build])
    }

    fn seen(&self, at: usize) -> Option<ExaminedBuild<'a>> {
        self.seen_of(self.record(at)?)
    }

    fn seen_of(&self, record: format::ExaminedBuild) -> Option<ExaminedBuild<'a>> {
        let pdb = (record.pdb != NONE).then(|| self.record::<format::Pdb>(record.pdb.into())).flatten();
        let image = (record.image != NONE).then(|| self.record::<format::Image>(record.image.into())).flatten();
        Some(ExaminedBuild {
            build: self.build(record.number, record.revision),
            arch: arch(record.arch)?,
            pdb: pdb.map(|it| Pdb { guid: Uuid::from_u128(it.guid), age: it.age }),
            image: image.map(|it| Image { time_stamp: it.time_stamp, size: it.size }),
            facts_file: self.facts_file(record.facts_file.into())?,
            table: *self,
            record,
        })
    }

    fn facts_file(&self, at: usize) -> Option<FactsFile<'a>> {
        let record = self.record::<format::FactsFile>(at)?;
        Some(FactsFile { name: self.text(record.name), kind: facts_kind(record.kind)? })
    }

    fn builds(&self, start: u32, count: u8) -> impl Iterator<Item = Build> + Clone + use<'a> {
        let this = *self;
        this.records::<format::Build>(start, count.into()).map(move |it| this.build(it.number, it.revision))
    }
}

impl<'a> Revision<'a> {
    /// Architectures that the build exists for.
    pub fn architectures(&self) -> impl Iterator<Item = Arch> + Clone + use<> {
        let mask = self.record.architectures;
        Arch::ALL.into_iter().filter(move |arch| has(mask, *arch))
    }

    /// Other builds that are identical to this one, revision by revision, each with its first revision; 0 if unknown.
    pub fn shared(&self) -> impl Iterator<Item = Build> + Clone + use<'a> {
        self.table.builds(self.record.shared, self.record.shared_count)
    }
}

impl<'a> Update<'a> {
    /// The architectures that it changed; none stands for all.
    pub fn architectures(&self) -> impl Iterator<Item = Arch> + use<> {
        let mask = self.record.architectures;
        Arch::ALL.into_iter().filter(move |arch| has(mask, *arch))
    }

    /// Builds after the last of [`UpdateFacts::revisions`], or between them, that never got the update.
    pub fn without(&self) -> impl Iterator<Item = [u32; 3]> + use<'a> {
        let start = self.record.revisions.saturating_add(self.record.revision_count.into());
        self.table.builds(start, self.record.without_count).map(|build| build.number)
    }
}

impl UpdateFacts for Update<'_> {
    fn revisions(&self) -> impl Iterator<Item = Build> {
        self.table.builds(self.record.revisions, self.record.revision_count)
    }

    fn is_without(&self, number: [u32; 3]) -> bool {
        self.without().any(|own| own == number)
    }

    fn changes(&self, arch: Arch) -> bool {
        self.record.architectures == 0 || has(self.record.architectures, arch)
    }
}

impl<'a> ExaminedBuild<'a> {
    /// Addresses of its global variables, by name, in bytes from the image base. They are valid for its PDB if that is known, otherwise for
    /// its image; if neither is known, for one of the images of this build and architecture: see [`Layouts::by_build`].
    pub fn globals(&self) -> impl Iterator<Item = (&'a str, u64)> + use<'a> {
        let table = self.table;
        let own = table.records::<format::Global>(self.record.globals, self.record.global_count.into());
        own.map(move |global| (table.text(global.name), global.address.into()))
    }
}

/// The architecture with a number.
pub(super) fn arch(number: u8) -> Option<Arch> {
    Arch::ALL.get(usize::from(number)).copied()
}

/// Whether a mask has an architecture.
pub(super) fn has(mask: u8, arch: Arch) -> bool {
    mask >> arch as u8 & 1 == 1
}

pub(super) fn facts_kind(number: u8) -> Option<FactsKind> {
    [FactsKind::Symbols, FactsKind::Converted, FactsKind::Images].get(usize::from(number)).copied()
}
