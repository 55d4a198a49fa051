//! Structures of a table, and selection by build.

use super::layout::{Layout, Member, Missing};
use super::registry::{Kernel, Update, arch, has, witness_kind};
use super::{Layouts, format, nth};
use crate::meta::{Absent, Arch, Build, Chosen, Confidence, Examined, Line, choose};
use crate::token::{Kind, Token, Tokens};
use core::fmt;

/// A structure or union with all its layouts.
#[derive(Clone, Copy)]
pub struct Structure<'a> {
    table: Layouts<'a>,
    index: usize,
    record: format::Structure,
}

/// A layout selected for a build.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Selection<'a> {
    /// The layout.
    pub layout: Layout<'a>,
    /// The build of the version axis with this layout.
    pub kernel: Kernel<'a>,
    /// Confidence in the layout for the requested build.
    pub confidence: Confidence,
    chosen: Chosen<(u16, Arch), u16>,
    along: Along<'a>,
}

impl<'a> Structure<'a> {
    /// Microsoft's name of the structure.
    pub fn name(&self) -> &'a str {
        self.table.text(self.record.name)
    }

    /// Selects the layout for a build, with its confidence, as [`meta::Structure::select`](crate::meta::Structure::select) does. Takes
    /// microseconds, without allocation.
    ///
    /// # Errors
    ///
    /// There is no such build, or it lacks the structure.
    pub fn select(&self, build: Build, arch: Arch) -> Result<Selection<'a>, Absent> {
        let has_none = self.table.same(build).is_some_and(|(_, first)| build.revision < first.revision);
        let build = self.table.canonical(build);
        let along = Along { structure: *self, unseen: has_none.then_some(build) };
        let chosen = choose(&along, build, arch)?;
        let confidence = chosen.confidence;
        let layout = chosen.layout.and_then(|layout| Layout::at(self.table, layout));
        let layout = layout.ok_or(Absent::Structure { confidence })?;
        let kernel = self.table.kernel(chosen.kernel.0.into()).ok_or(Absent::Arch)?;
        Ok(Selection { layout, kernel, confidence, chosen, along })
    }

    /// The distinct layouts, oldest first.
    pub fn layouts(&self) -> impl Iterator<Item = Layout<'a>> + use<'a> {
        let this = *self;
        let is_first =
            move |(at, change): &(usize, format::Change)| !this.changes().take(*at).any(|it| it.layout == change.layout);
        this.changes().enumerate().filter(is_first).filter_map(move |(_, change)| Layout::at(this.table, change.layout))
    }

    /// Changes of the layout, oldest first: the first build with the change, and the layout; `None` if the structure does not exist.
    pub fn history(&self) -> impl Iterator<Item = (Kernel<'a>, Arch, Option<Layout<'a>>)> + use<'a> {
        let table = self.table;
        self.changes().filter_map(move |change| {
            Some((table.kernel(change.kernel.into())?, arch(change.arch)?, Layout::at(table, change.layout)))
        })
    }

    pub(super) fn at(table: Layouts<'a>, index: usize) -> Option<Self> {
        Some(Self { table, index, record: table.record(index)? })
    }

    pub(super) fn has_name(&self, name: u16) -> bool {
        self.record.name == name
    }

    fn changes(&self) -> impl DoubleEndedIterator<Item = format::Change> + Clone + use<'a> {
        self.table.records::<format::Change>(self.record.changes, self.record.change_count.into())
    }

    /// Whether the witnesses contain the structure, one bit each.
    fn holdings(&self) -> &'a [u8] {
        let size = self.table.count::<format::Witness>().div_ceil(8);
        let start = self.index.saturating_mul(size);
        self.table.section_bytes::<format::Holding>().get(start..start.saturating_add(size)).unwrap_or_default()
    }
}

impl<'a> Selection<'a> {
    /// The layouts that the build can have, the selected one first. There are others if the layout is uncertain or partly verified, or if the
    /// symbols of the build lack the structure; `None` means that the build may lack the structure.
    pub fn candidates(&self) -> impl Iterator<Item = Option<Layout<'a>>> {
        let table = self.along.structure.table;
        self.chosen.candidates(&self.along).map(move |(_, layout)| Layout::at(table, layout?))
    }

    /// The member of a token.
    ///
    /// # Errors
    ///
    /// As [`Layout::find`].
    pub fn find<S: Tokens, K: Kind>(&self, token: Token<S, K>) -> Result<Member<'a>, Missing> {
        self.layout.find(token)
    }

    /// Whether all candidates have the same members at the same offsets. Embedded structures can differ inside.
    pub fn agrees_on_members(&self) -> bool {
        self.candidates().all(|layout| layout.is_some_and(|layout| layout.has_offsets_of(&self.layout)))
    }

    /// Whether all candidates have a member at the same offset, or all lack it.
    pub fn agrees_on(&self, name: &str) -> bool {
        let place = |layout: Layout| layout.member(name).map(|member| member.place());
        let own = place(self.layout);
        self.candidates().all(|layout| layout.and_then(place) == own)
    }

    /// Whether the offsets of all members can be used without checking the data: see [`Confidence::is_sure_if_same`].
    pub fn is_sure_of_members(&self) -> bool {
        self.confidence.is_sure_if_same(|| self.agrees_on_members())
    }

    /// Whether the offset of a member can be used without checking the data: see [`Confidence::is_sure_if_same`].
    pub fn is_sure_of(&self, name: &str) -> bool {
        // A member that no candidate has can have been added and removed between them.
        self.confidence.is_sure_if_same(|| self.layout.member(name).is_some() && self.agrees_on(name))
    }
}

/// A structure in all builds.
#[derive(Clone, Copy)]
struct Along<'a> {
    structure: Structure<'a>,
    /// An examined build to ignore: the requested build has another number, and never had this revision.
    unseen: Option<Build>,
}

impl<'a> Line for Along<'a> {
    type Kernel = (u16, Arch);
    type Layout = u16;
    type Update<'u>
        = Update<'a>
    where
        Self: 'u;

    fn kernels(&self, arch: Arch) -> impl Iterator<Item = (Build, Self::Kernel)> + Clone {
        let table = self.structure.table;
        let own = (0..).zip(table.all::<format::Kernel>()).filter(move |(_, kernel)| has(kernel.architectures, arch));
        own.map(move |(at, kernel)| (table.build(kernel.number, kernel.revision), (at, arch)))
    }

    fn newest(&self) -> Option<Build> {
        let table = self.structure.table;
        let last = table.record::<format::Kernel>(table.count::<format::Kernel>().checked_sub(1)?)?;
        Some(table.build(last.number, last.revision))
    }

    fn layout(&self, (kernel, arch): Self::Kernel) -> Option<u16> {
        let change = self.structure.changes().rfind(|change| change.arch == arch as u8 && change.kernel <= kernel)?;
        (change.layout != format::NONE).then_some(change.layout)
    }

    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined> {
        let table = self.structure.table;
        // Some questions go through all examined builds, so their sections are found once.
        let (numbers, witnesses) = (table.section_bytes::<format::Number>(), table.section_bytes::<format::Witness>());
        let holdings = self.structure.holdings();
        table.examined_of(branch).filter_map(move |seen| {
            let format::Number { major, minor, build } = nth(numbers, seen.number.into())?;
            let build = Build::new(major, minor, build, seen.revision);
            let kind = witness_kind(nth::<format::Witness>(witnesses, seen.witness.into())?.kind)?;
            let is_held = holdings.get(usize::from(seen.witness) / 8).is_some_and(|bits| bits >> (seen.witness % 8) & 1 == 1);
            let evidence = kind.evidence(is_held)?;
            (self.unseen != Some(build)).then_some(Examined { build, arch: arch(seen.arch)?, evidence })
        })
    }

    fn updates(&self) -> impl Iterator<Item = Update<'a>> {
        self.structure.table.updates()
    }
}

impl fmt::Debug for Structure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Structure").field(&self.name()).finish()
    }
}

impl fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, kernel, confidence, .. } = self;
        let mut shown = f.debug_struct("Selection");
        shown.field("layout", layout).field("kernel", &kernel.build).field("confidence", confidence).finish_non_exhaustive()
    }
}
