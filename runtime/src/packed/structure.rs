//! Structures of a table, and selection by build.

use super::layout::Layout;
use super::registry::{Revision, Update, arch, facts_kind, has};
use super::{Layouts, format};
use crate::meta::{Absent, Arch, Build, Chosen, Confidence, Examined, Line, choose};
use crate::token::{LayoutOf, Token, Tokens};
use core::fmt;
use core::marker::PhantomData;

/// A structure or union with all its layouts. The layouts accept tokens of the structure `S`; `()` means any structure.
pub struct Structure<'a, S = ()> {
    /// Microsoft's name of the structure.
    pub name: &'a str,
    table: Layouts<'a>,
    of: PhantomData<fn() -> S>,
}

/// A layout selected for a build.
#[non_exhaustive]
pub struct Selection<'a, S = ()> {
    /// The layout.
    pub layout: LayoutOf<'a, S>,
    /// The build of the version axis with this layout.
    pub revision: Revision<'a>,
    /// Confidence in the layout for the requested build.
    pub confidence: Confidence,
    chosen: Chosen<(u16, Arch), u16>,
    along: Along<'a>,
}

/// A build and architecture of the version axis that has a structure.
#[non_exhaustive]
pub struct Target<'a, S = ()> {
    /// The build.
    pub revision: Revision<'a>,
    /// The architecture.
    pub arch: Arch,
    /// The layout of the structure.
    pub layout: LayoutOf<'a, S>,
    /// Confidence in the layout.
    pub confidence: Confidence,
}

impl<'a> Layouts<'a> {
    /// The structure with a name, found by binary search.
    pub fn structure(&self, name: &str) -> Option<Structure<'a>> {
        let rows = Rows::find(*self, name)?;
        Some(Structure { name: self.text(rows.record.name), table: *self, of: PhantomData })
    }

    /// All structures, sorted by name.
    pub fn structures(&self) -> impl Iterator<Item = Structure<'a>> + use<'a> {
        let table = *self;
        table.all::<format::Structure>().map(move |it| Structure { name: table.text(it.name), table, of: PhantomData })
    }

    /// The structure `S`, which the table is known to have.
    #[doc(hidden)]
    pub const fn known<S: Tokens>(&self) -> Structure<'a, S> {
        Structure { name: S::NAME, table: *self, of: PhantomData }
    }
}

impl<'a, S> Structure<'a, S> {
    /// The same structure with the tokens of `T`; `None` if it is a different structure.
    pub fn of<T: Tokens>(&self) -> Option<Structure<'a, T>> {
        (self.name == T::NAME).then_some(Structure { name: self.name, table: self.table, of: PhantomData })
    }

    /// The table that the structure is in.
    pub(crate) const fn table(&self) -> Layouts<'a> {
        self.table
    }

    /// The same structure without tokens, for collections of structures.
    pub const fn any(&self) -> Structure<'a> {
        Structure { name: self.name, table: self.table, of: PhantomData }
    }

    /// The same structure in another table, such as a newer file; `None` if that table lacks it.
    pub fn in_table<'b>(&self, table: Layouts<'b>) -> Option<Structure<'b, S>> {
        let Structure { name, table, .. } = table.structure(self.name)?;
        Some(Structure { name, table, of: PhantomData })
    }

    /// Selects the layout for a build, with its confidence.
    ///
    /// A revision has the layout of the last row of its build on the version axis with the same or an earlier revision. Without
    /// such a row, a build that is identical to another under a later number, such as 10.0.19045, has the layout of its first
    /// revision, and counts as not examined. A build that is not on the axis is treated as the first release of the previous one.
    /// Takes microseconds, without allocation.
    ///
    /// # Errors
    ///
    /// There is no such build, or it lacks the structure.
    pub fn select(&self, build: Build, arch: Arch) -> Result<Selection<'a, S>, Absent> {
        let Selection { layout, revision, confidence, chosen, along } = self.rows().select(build, arch)?;
        Ok(Selection { layout: LayoutOf::known(layout.layout()), revision, confidence, chosen, along })
    }

    /// The distinct layouts, oldest first.
    pub fn layouts(&self) -> impl Iterator<Item = LayoutOf<'a, S>> + use<'a, S> {
        let rows = self.rows();
        let is_first =
            move |(at, change): &(usize, format::Change)| !rows.changes().take(*at).any(|it| it.layout == change.layout);
        let layouts = rows.changes().enumerate().filter(is_first);
        layouts.filter_map(move |(_, change)| Layout::at(rows.table, change.layout).map(LayoutOf::known))
    }

    /// The builds and architectures of the version axis that have the structure, oldest first, each with its layout.
    pub fn targets(&self) -> impl Iterator<Item = Target<'a, S>> + use<'a, S> {
        let this = *self;
        let targets = this.table.revisions().flat_map(|revision| revision.architectures().map(move |arch| (revision, arch)));
        targets.filter_map(move |(revision, arch)| {
            let Selection { layout, confidence, .. } = this.select(revision.build, arch).ok()?;
            Some(Target { revision, arch, layout, confidence })
        })
    }

    /// Changes of the layout, oldest first: the first build with the change, and the layout; `None` if the structure does not exist.
    pub fn history(&self) -> impl Iterator<Item = (Revision<'a>, Arch, Option<LayoutOf<'a, S>>)> + use<'a, S> {
        let rows = self.rows();
        rows.changes().filter_map(move |change| {
            let layout = Layout::at(rows.table, change.layout).map(LayoutOf::known);
            Some((rows.table.revision(change.revision.into())?, arch(change.arch)?, layout))
        })
    }

    /// The rows of the structure in the table. None if the table lacks it, which only an unchecked table can.
    fn rows(&self) -> Rows<'a> {
        let none = format::Structure { name: format::NONE, change_count: 0, changes: 0 };
        Rows::find(self.table, self.name).unwrap_or(Rows { table: self.table, index: usize::MAX, record: none })
    }
}

impl<'a, S> Selection<'a, S> {
    /// The layouts that the build can have, the selected one first. There are others if the layout is uncertain or partly verified, or if the
    /// symbols of the build lack the structure; `None` means that the build may lack the structure.
    pub fn candidates(&self) -> impl Iterator<Item = Option<LayoutOf<'a, S>>> {
        let table = self.along.rows.table;
        self.chosen.candidates(&self.along).map(move |(_, layout)| Layout::at(table, layout?).map(LayoutOf::known))
    }

    /// Whether all candidates have the same members at the same offsets. Embedded structures can differ inside.
    pub fn agrees_on_members(&self) -> bool {
        self.candidates().all(|layout| layout.is_some_and(|layout| layout.has_offsets_of(&self.layout)))
    }

    /// Whether all candidates have a member at the same offset, or all lack it.
    pub fn agrees_on<K>(&self, token: Token<S, K>) -> bool
    where
        S: Tokens,
    {
        self.agrees(|layout| layout.locate(token.name()).map(|found| found.place()))
    }

    /// Whether the offsets of all members can be used without checking the data: see [`Confidence::is_sure_if_same`].
    pub fn is_sure_of_members(&self) -> bool {
        self.confidence.is_sure_if_same(|| self.agrees_on_members())
    }

    /// Whether the offset of a member can be used without checking the data: see [`Confidence::is_sure_if_same`].
    pub fn is_sure_of<K>(&self, token: Token<S, K>) -> bool
    where
        S: Tokens,
    {
        // A member that no candidate has can have been added and removed between them.
        self.confidence.is_sure_if_same(|| self.layout.find(token).is_some() && self.agrees_on(token))
    }

    /// [`is_sure_of`](Self::is_sure_of) for a member by its name, without a token.
    pub fn is_sure_of_member(&self, name: &str) -> bool {
        let place = |layout: LayoutOf<'a, S>| layout.locate(name).map(|found| found.place());
        self.confidence.is_sure_if_same(|| place(self.layout).is_some() && self.agrees(place))
    }

    fn agrees<T: PartialEq>(&self, part: impl Fn(LayoutOf<'a, S>) -> Option<T>) -> bool {
        let own = part(self.layout);
        self.candidates().all(|layout| layout.and_then(&part) == own)
    }
}

/// The rows of a structure in a table.
#[derive(Clone, Copy)]
struct Rows<'a> {
    table: Layouts<'a>,
    index: usize,
    record: format::Structure,
}

impl<'a> Rows<'a> {
    fn find(table: Layouts<'a>, name: &str) -> Option<Self> {
        table.find_structure(name).map(|(index, record)| Self { table, index, record })
    }

    /// As [`Structure::select`], compiled once for all structures.
    fn select(self, build: Build, arch: Arch) -> Result<Selection<'a>, Absent> {
        let table = self.table;
        let has_none = table.shared(build).is_some_and(|(_, first)| build.revision < first.revision);
        let build = table.canonical(build);
        let along = Along { rows: self, unseen: has_none.then_some(build) };
        let chosen = choose(&along, build, arch)?;
        let confidence = chosen.confidence;
        let layout = chosen.layout.and_then(|layout| Layout::at(table, layout)).ok_or(Absent::Structure { confidence })?;
        let revision = table.revision(chosen.revision.0.into()).ok_or(Absent::Arch)?;
        Ok(Selection { layout: layout.into(), revision, confidence, chosen, along })
    }

    fn changes(&self) -> impl DoubleEndedIterator<Item = format::Change> + Clone + use<'a> {
        self.table.records::<format::Change>(self.record.changes, self.record.change_count.into())
    }

    /// Whether the facts files contain the structure, one bit each.
    fn holdings(&self) -> &'a [u8] {
        let size = self.table.count::<format::FactsFile>().div_ceil(8);
        let start = self.index.saturating_mul(size);
        self.table.section_bytes::<format::Holding>().get(start..start.saturating_add(size)).unwrap_or_default()
    }
}

/// A structure in all builds.
#[derive(Clone, Copy)]
struct Along<'a> {
    rows: Rows<'a>,
    /// An examined build to ignore: the requested build has another number, and never had this revision.
    unseen: Option<Build>,
}

impl<'a> Line for Along<'a> {
    type Revision = (u16, Arch);
    type Layout = u16;
    type Update<'u>
        = Update<'a>
    where
        Self: 'u;

    fn revisions(&self, arch: Arch) -> impl Iterator<Item = (Build, Self::Revision)> + Clone {
        let table = self.rows.table;
        let own = (0..).zip(table.all::<format::Revision>()).filter(move |(_, revision)| has(revision.architectures, arch));
        own.map(move |(at, revision)| (table.build(revision.number, revision.revision), (at, arch)))
    }

    fn newest(&self) -> Option<Build> {
        let table = self.rows.table;
        Some(table.revision(table.count::<format::Revision>().checked_sub(1)?)?.build)
    }

    fn layout(&self, (revision, arch): Self::Revision) -> Option<u16> {
        let change = self.rows.changes().rfind(|change| change.arch == arch as u8 && change.revision <= revision)?;
        (change.layout != format::NONE).then_some(change.layout)
    }

    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined> {
        let table = self.rows.table;
        // Some questions go through all examined builds, so their sections are found once.
        let (numbers, facts_files) = (table.section_bytes::<format::Number>(), table.section_bytes::<format::FactsFile>());
        let holdings = self.rows.holdings();
        table.examined_of(branch).filter_map(move |seen| {
            let format::Number { major, minor, build } = format::Number::nth(numbers, seen.number.into())?;
            let build = Build::new(major, minor, build, seen.revision);
            let kind = facts_kind(format::FactsFile::nth(facts_files, seen.facts_file.into())?.kind)?;
            let is_held =
                holdings.get(usize::from(seen.facts_file) / 8).is_some_and(|bits| bits >> (seen.facts_file % 8) & 1 == 1);
            let evidence = kind.evidence(is_held)?;
            (self.unseen != Some(build)).then_some(Examined { build, arch: arch(seen.arch)?, evidence })
        })
    }

    fn updates(&self) -> impl Iterator<Item = Update<'a>> {
        self.rows.table.updates()
    }
}

// Derived implementations would require the trait for `S`, which has no values.
macro_rules! copy {
    ($($name:ident)*) => { $(
        impl<S> Clone for $name<'_, S> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<S> Copy for $name<'_, S> {}
    )* };
}

copy!(Structure Selection Target);

impl<S> fmt::Debug for Structure<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Structure").field(&self.name).finish()
    }
}

impl<S> fmt::Debug for Target<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { revision, arch, layout, confidence } = self;
        let mut shown = f.debug_struct("Target");
        shown
            .field("revision", &revision.build)
            .field("arch", arch)
            .field("layout", layout)
            .field("confidence", confidence)
            .finish()
    }
}

impl<S> fmt::Debug for Selection<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, revision, confidence, .. } = self;
        let mut shown = f.debug_struct("Selection");
        shown.field("layout", layout).field("revision", &revision.build).field("confidence", confidence).finish_non_exhaustive()
    }
}
