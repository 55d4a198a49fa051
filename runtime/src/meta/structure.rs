//! Structures in all their layouts, and the layout of a build.

use super::axis::{Arch, Axis, Build, Kernel};
use super::layout::Layout;
use super::line::{Evidence, Line, choose};
use super::registry::Registry;
use super::standing::{Absent, Standing};

/// A structure or union in all its layouts.
#[derive(Debug)]
pub struct Structure {
    /// Microsoft's name.
    pub name: &'static str,
    /// The version axis.
    pub axis: &'static Axis,
    /// The kernels that were seen.
    pub registry: &'static Registry,
    /// Which of the registry's witnesses hold the structure: a bit each, the lowest of the first word for the first.
    pub held: &'static [u64],
    /// The kernels from which on an architecture has another layout than before, oldest first; before its first, it has none.
    pub changes: &'static [Change],
}

/// From a kernel on, up to the next change of the architecture: the layout.
#[derive(Debug)]
pub struct Change {
    /// The kernel.
    pub since: Build,
    /// The architecture.
    pub arch: Arch,
    /// The layout; `None` if the structure is not there.
    pub layout: Option<&'static Layout>,
}

/// A kernel of the version axis and an architecture that have a structure.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// The architecture.
    pub arch: Arch,
    /// The layout that they have.
    pub layout: &'static Layout,
    /// How sure it is.
    pub standing: Standing,
}

/// A layout chosen for a build.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// The layout.
    pub layout: &'static Layout,
    /// The kernel of the version axis whose layout it is.
    pub kernel: &'static Kernel,
    /// How sure it is for the build that was asked for, and what to do about it.
    pub standing: Standing,
    /// The layout of a neighbour by which that is judged, if it is another one. None also where that neighbour lacks the structure.
    pub other: Option<&'static Layout>,
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

impl Structure {
    /// The layout for a build, and how sure it is.
    ///
    /// A revision has the layout of the last kernel of its build on the version axis that is not later. A build that is not on the axis is
    /// taken for the first release of the one before it. Without allocation, in microseconds.
    ///
    /// # Errors
    ///
    /// There is no such kernel, or it does not have the structure.
    pub fn select(&self, build: Build, arch: Arch) -> Result<Selection, Absent> {
        let (build, unseen) = self.axis.canonical(build);
        let chosen = choose(&Along { structure: self, arch, unseen: unseen.then_some(build) }, build)?;
        let other = chosen.other.map(|(_, layout)| layout.0);
        Ok(Selection { layout: chosen.layout.0, kernel: chosen.kernel, standing: chosen.standing, other })
    }

    /// Every layout once, oldest first.
    pub fn layouts(&self) -> impl Iterator<Item = &'static Layout> + use<> {
        let changes = self.changes;
        let of = |change: &Change| change.layout.map(|layout| layout as *const Layout);
        let is_first = move |(index, change): &(usize, &Change)| !changes[..*index].iter().any(|other| of(other) == of(change));
        changes.iter().enumerate().filter(is_first).filter_map(|(_, change)| change.layout)
    }

    /// The kernels of the version axis and architectures that have the structure, oldest first, and the layout of each.
    pub fn targets(&self) -> impl Iterator<Item = Target> + '_ {
        let targets = self.axis.kernels.iter().flat_map(|kernel| kernel.architectures.iter().map(move |&arch| (kernel, arch)));
        targets.filter_map(|(kernel, arch)| {
            let Selection { layout, standing, .. } = self.select(kernel.build, arch).ok()?;
            Some(Target { kernel, arch, layout, standing })
        })
    }

    /// Whether a witness of the registry holds the structure.
    fn is_held(&self, witness: u32) -> bool {
        self.held.get(witness as usize / 64).is_some_and(|word| word >> (witness % 64) & 1 == 1)
    }
}

/// A structure along the kernels of an architecture.
struct Along<'a> {
    structure: &'a Structure,
    arch: Arch,
    /// A kernel that was seen, but not under the number that is asked for, which never had this revision.
    unseen: Option<Build>,
}

/// A layout, which is the same as another if it is that very one.
#[derive(Clone, Copy)]
struct Same(&'static Layout);

impl PartialEq for Same {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Line for Along<'_> {
    type Kernel = &'static Kernel;
    type Layout = Same;

    fn kernels(&self) -> impl Iterator<Item = (Build, &'static Kernel)> + Clone {
        let arch = self.arch;
        let own = self.structure.axis.kernels.iter().filter(move |kernel| kernel.architectures.contains(&arch));
        own.map(|kernel| (kernel.build, kernel))
    }

    fn newest(&self) -> Option<Build> {
        self.structure.axis.kernels.last().map(|kernel| kernel.build)
    }

    fn layout(&self, kernel: &'static Kernel) -> Option<Same> {
        let changes = self.structure.changes;
        let change = changes.iter().rfind(|change| change.arch == self.arch && change.since <= kernel.build)?;
        change.layout.map(Same)
    }

    fn seen(&self, number: [u32; 3]) -> impl Iterator<Item = (Build, Evidence)> {
        let Structure { registry, .. } = self.structure;
        let own = registry.of_build(number, self.arch).filter(|seen| self.unseen != Some(seen.build));
        own.filter_map(|seen| {
            let kind = registry.witnesses.get(seen.witness as usize)?.kind;
            Some((seen.build, kind.evidence(self.structure.is_held(seen.witness))?))
        })
    }
}
