//! Structures in all their layouts, and the layout of a build.

use super::axis::{Arch, Axis, Build, Kernel, Update};
use super::confidence::{Absent, Confidence};
use super::layout::Layout;
use super::line::{Examined, Line, choose};
use super::registry::Registry;
use crate::token::LayoutOf;
use core::fmt;
use core::marker::PhantomData;

/// A structure or union in all its layouts: `S`, whose tokens they take, or any.
#[non_exhaustive]
pub struct Structure<S: 'static = ()> {
    /// Microsoft's name.
    pub name: &'static str,
    /// The version axis.
    pub axis: &'static Axis,
    /// The examined builds.
    pub registry: &'static Registry,
    /// Which of the registry's witnesses hold the structure: a bit each, the lowest of the first word for the first.
    pub held: &'static [u64],
    /// The kernels from which on an architecture has another layout than before, oldest first; before its first, it has none.
    pub changes: &'static [Change],
    /// Whose tokens the layouts take.
    pub of: PhantomData<fn() -> S>,
}

/// From a kernel on, up to the next change of the architecture: the layout.
#[derive(Debug)]
#[non_exhaustive]
pub struct Change {
    /// The kernel.
    pub since: Build,
    /// The architecture.
    pub arch: Arch,
    /// The layout; `None` if the structure is not there.
    pub layout: Option<&'static Layout>,
}
/// A kernel of the version axis and an architecture that have a structure.
#[non_exhaustive]
pub struct Target<S = ()> {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// The architecture.
    pub arch: Arch,
    /// The layout that they have.
    pub layout: LayoutOf<S>,
    /// How sure it is.
    pub confidence: Confidence,
}

/// A layout chosen for a build.
#[non_exhaustive]
pub struct Selection<S = ()> {
    /// The layout.
    pub layout: LayoutOf<S>,
    /// The kernel of the version axis whose layout it is.
    pub kernel: &'static Kernel,
    /// How sure it is for the build that was asked for.
    pub confidence: Confidence,
    /// The other layout that it may have, where it is not sure: that of a neighbour. None also where that neighbour lacks the structure.
    pub other: Option<LayoutOf<S>>,
}

impl Change {
    /// A layout.
    pub const fn layout(since: Build, arch: Arch, layout: &'static Layout) -> Self {
        Self { since, arch, layout: Some(layout) }
    }

    /// No such structure.
    pub const fn none(since: Build, arch: Arch) -> Self {
        Self { since, arch, layout: None }
    }
}

impl<S> Structure<S> {
    /// The same structure, without tokens: as one of many.
    pub const fn any(&self) -> Structure {
        let Self { name, axis, registry, held, changes, .. } = *self;
        Structure { name, axis, registry, held, changes, of: PhantomData }
    }

    /// The layout for a build, and how sure it is.
    ///
    /// A revision has the layout of the last kernel of its build on the version axis that is not later. Without one, a build that is another
    /// kernel's under a later number, such as 10.0.19045, has that of its first revision, and is not taken for examined. A build that is not on the axis is
    /// taken for the first release of the one before it. Without allocation, in microseconds.
    ///
    /// # Errors
    ///
    /// There is no such kernel, or it does not have the structure.
    pub fn select(&self, build: Build, arch: Arch) -> Result<Selection<S>, Absent> {
        let has_none = self.axis.same(build).is_some_and(|(_, first)| build.revision < first.revision);
        let build = self.axis.canonical(build);
        let chosen = choose(&Along { structure: &self.any(), unseen: has_none.then_some(build) }, build, arch)?;
        let other = chosen.other.map(|(_, layout)| LayoutOf::known(layout));
        Ok(Selection { layout: LayoutOf::known(chosen.layout), kernel: chosen.kernel.0, confidence: chosen.confidence, other })
    }

    /// Every layout once, oldest first.
    pub fn layouts(&self) -> impl Iterator<Item = LayoutOf<S>> + use<S> {
        let changes = self.changes;
        let is_first =
            move |(index, change): &(usize, &Change)| !changes[..*index].iter().any(|other| other.layout == change.layout);
        changes.iter().enumerate().filter(is_first).filter_map(|(_, change)| change.layout.map(LayoutOf::known))
    }

    /// The kernels of the version axis and architectures that have the structure, oldest first, and the layout of each.
    pub fn targets(&self) -> impl Iterator<Item = Target<S>> + '_ {
        let targets = self.axis.kernels.iter().flat_map(|kernel| kernel.architectures.iter().map(move |&arch| (kernel, arch)));
        targets.filter_map(|(kernel, arch)| {
            let Selection { layout, confidence, .. } = self.select(kernel.build, arch).ok()?;
            Some(Target { kernel, arch, layout, confidence })
        })
    }

    /// Whether a witness of the registry holds the structure.
    fn is_held(&self, witness: u32) -> bool {
        self.held.get(witness as usize / 64).is_some_and(|word| word >> (witness % 64) & 1 == 1)
    }
}

/// A structure along the kernels.
struct Along<'a> {
    structure: &'a Structure,
    /// An examined build, but not under the number that is asked for, which never had this revision.
    unseen: Option<Build>,
}

// Derived, these would ask the same of `S`, of which there are no values.
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
        let Self { layout, kernel, confidence, other } = self;
        let mut shown = f.debug_struct("Selection");
        shown.field("layout", layout).field("kernel", kernel).field("confidence", confidence).field("other", other).finish()
    }
}

impl<S> fmt::Debug for Structure<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Structure").field("name", &self.name).field("changes", &self.changes).finish_non_exhaustive()
    }
}

impl Line for Along<'_> {
    type Kernel = (&'static Kernel, Arch);
    type Layout = &'static Layout;

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
