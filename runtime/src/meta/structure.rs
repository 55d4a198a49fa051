//! Structures with all their layouts, and selection by build.

use super::axis::{Arch, Axis, Build, Kernel, Update};
use super::confidence::{Absent, Confidence};
use super::layout::{Layout, Member};
use super::line::{Chosen, Examined, Line, choose};
use super::registry::Registry;
use crate::token::{LayoutOf, Token, Tokens};
use core::fmt;
use core::marker::PhantomData;

/// A structure or union with all its layouts. The layouts accept tokens of the structure `S`; `()` means any structure.
#[non_exhaustive]
pub struct Structure<S: 'static = ()> {
    /// Microsoft's name of the structure.
    pub name: &'static str,
    /// The version axis.
    pub axis: &'static Axis,
    /// The examined builds.
    pub registry: &'static Registry,
    /// Bit mask of the registry's witnesses that contain the structure, beginning with the lowest bit of the first word.
    pub(crate) held: &'static [u64],
    /// Changes of the layout per architecture, oldest first; before the first change, the structure does not exist.
    pub changes: &'static [Change],
    /// Marker for `S`.
    pub of: PhantomData<fn() -> S>,
}

/// A change of the layout, valid up to the next change of the same architecture.
#[derive(Debug)]
#[non_exhaustive]
pub struct Change {
    /// First build with the change.
    pub since: Build,
    /// The architecture.
    pub arch: Arch,
    /// The layout; `None` if the structure does not exist.
    pub layout: Option<&'static Layout>,
}
/// A build and architecture of the version axis that has a structure.
#[non_exhaustive]
pub struct Target<S = ()> {
    /// The build.
    pub kernel: &'static Kernel,
    /// The architecture.
    pub arch: Arch,
    /// The layout of the structure.
    pub layout: LayoutOf<S>,
    /// Confidence in the layout.
    pub confidence: Confidence,
}

/// A layout selected for a build.
#[non_exhaustive]
pub struct Selection<S = ()> {
    /// The layout.
    pub layout: LayoutOf<S>,
    /// The build of the version axis with this layout.
    pub kernel: &'static Kernel,
    /// Confidence in the layout for the requested build.
    pub confidence: Confidence,
    chosen: Chosen<(&'static Kernel, Arch), &'static Layout>,
    along: Along,
    of: PhantomData<fn() -> S>,
}

impl Change {
    /// A change to a layout.
    pub const fn layout(since: Build, arch: Arch, layout: &'static Layout) -> Self {
        Self { since, arch, layout: Some(layout) }
    }

    /// The removal of the structure.
    pub const fn none(since: Build, arch: Arch) -> Self {
        Self { since, arch, layout: None }
    }
}

impl<S> Selection<S> {
    /// The layouts that the build can have, the selected one first. There are others if the layout is uncertain or partly verified, or if the
    /// symbols of the build lack the structure; `None` means that the build may lack the structure.
    pub fn candidates(&self) -> impl Iterator<Item = Option<LayoutOf<S>>> {
        self.chosen.candidates(&self.along).map(|(_, layout)| layout.map(LayoutOf::known))
    }

    /// Whether all candidates have the same members at the same offsets. Embedded structures can differ inside.
    pub fn agrees_on_members(&self) -> bool {
        let own = self.layout.layout();
        self.candidates().all(|layout| layout.is_some_and(|layout| layout.layout().has_offsets_of(own)))
    }

    /// Whether all candidates have a member at the same offset, or all lack it.
    pub fn agrees_on<K>(&self, token: Token<S, K>) -> bool
    where
        S: Tokens,
    {
        self.agrees(|layout| layout.find(token).map(Member::place))
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
        let place = |layout: LayoutOf<S>| layout.member(name).map(Member::place);
        self.confidence.is_sure_if_same(|| place(self.layout).is_some() && self.agrees(place))
    }

    fn agrees<T: PartialEq>(&self, part: impl Fn(LayoutOf<S>) -> Option<T>) -> bool {
        let own = part(self.layout);
        self.candidates().all(|layout| layout.and_then(&part) == own)
    }
}

impl<S> Structure<S> {
    /// The same structure without tokens, for collections of structures.
    pub const fn any(&self) -> Structure {
        let Self { name, axis, registry, held, changes, .. } = *self;
        Structure { name, axis, registry, held, changes, of: PhantomData }
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
    pub fn select(&self, build: Build, arch: Arch) -> Result<Selection<S>, Absent> {
        let has_none = self.axis.same(build).is_some_and(|(_, first)| build.revision < first.revision);
        let build = self.axis.canonical(build);
        let along = Along { structure: self.any(), unseen: has_none.then_some(build) };
        let chosen = choose(&along, build, arch)?;
        let Chosen { layout, kernel: (kernel, _), confidence, .. } = chosen;
        let layout = LayoutOf::known(layout.ok_or(Absent::Structure { confidence })?);
        Ok(Selection { layout, kernel, confidence, chosen, along, of: PhantomData })
    }

    /// The distinct layouts, oldest first.
    pub fn layouts(&self) -> impl Iterator<Item = LayoutOf<S>> + use<S> {
        let changes = self.changes;
        let is_first =
            move |(index, change): &(usize, &Change)| !changes[..*index].iter().any(|other| other.layout == change.layout);
        changes.iter().enumerate().filter(is_first).filter_map(|(_, change)| change.layout.map(LayoutOf::known))
    }

    /// The builds and architectures of the version axis that have the structure, oldest first, each with its layout.
    pub fn targets(&self) -> impl Iterator<Item = Target<S>> + '_ {
        let targets = self.axis.kernels.iter().flat_map(|kernel| kernel.architectures.iter().map(move |&arch| (kernel, arch)));
        targets.filter_map(|(kernel, arch)| {
            let Selection { layout, confidence, .. } = self.select(kernel.build, arch).ok()?;
            Some(Target { kernel, arch, layout, confidence })
        })
    }

    /// Whether a witness of the registry contains the structure.
    fn is_held(&self, witness: u32) -> bool {
        self.held.get(witness as usize / 64).is_some_and(|word| word >> (witness % 64) & 1 == 1)
    }
}

/// A structure in all builds.
#[derive(Clone, Copy)]
struct Along {
    structure: Structure,
    /// An examined build to ignore: the requested build has another number, and never had this revision.
    unseen: Option<Build>,
}

// Derived implementations would require the trait for `S`, which has no values.
macro_rules! copy {
    ($($name:ident)*) => { $(
        impl<S> Clone for $name<S> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<S> Copy for $name<S> {}
    )* };
}

copy!(Structure Selection Target);

impl<S> fmt::Debug for Target<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, arch, layout, confidence } = self;
        let mut shown = f.debug_struct("Target");
        shown.field("kernel", kernel).field("arch", arch).field("layout", layout).field("confidence", confidence).finish()
    }
}

impl<S> fmt::Debug for Selection<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, kernel, confidence, .. } = self;
        let mut shown = f.debug_struct("Selection");
        shown.field("layout", layout).field("kernel", kernel).field("confidence", confidence).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Structure<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Structure").field("name", &self.name).field("changes", &self.changes).finish_non_exhaustive()
    }
}

impl Line for Along {
    type Kernel = (&'static Kernel, Arch);
    type Layout = &'static Layout;
    type Update<'u>
        = Update<'u>
    where
        Self: 'u;

    fn kernels(&self, arch: Arch) -> impl Iterator<Item = (Build, Self::Kernel)> + Clone {
        let own = self.structure.axis.kernels.iter().filter(move |kernel| kernel.architectures.contains(&arch));
        own.map(move |kernel| (kernel.build, (kernel, arch)))
    }

    fn newest(&self) -> Option<Build> {
        self.structure.axis.kernels.last().map(|kernel| kernel.build)
    }

    fn layout(&self, (kernel, arch): Self::Kernel) -> Option<&'static Layout> {
        let changes = self.structure.changes;
        let change = changes.iter().rfind(|change| change.arch == arch && change.since <= kernel.build)?;
        change.layout
    }

    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined> {
        let registry = self.structure.registry;
        let own = branch.map_or(registry.kernels, |number| registry.of_build(number));
        own.iter().filter(|seen| self.unseen != Some(seen.build)).filter_map(|seen| {
            let kind = registry.witnesses.get(seen.witness as usize)?.kind;
            let evidence = kind.evidence(self.structure.is_held(seen.witness))?;
            Some(Examined { build: seen.build, arch: seen.arch, evidence })
        })
    }

    fn updates(&self) -> impl Iterator<Item = Update<'_>> {
        self.structure.axis.updates.iter().copied()
    }
}
