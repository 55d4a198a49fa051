//! How sure the layouts of a kernel are: the standing that runtime has, over specs and registry.

use crate::axis::{Arch, Axis, Build};
use crate::layouts::{LayoutId, Layouts};
use crate::registry::Registry;
use crate::target::{Asked, Named};
use etw_layouts_runtime::meta::{Absent, Evidence, Line, Standing, choose};
use std::collections::BTreeMap;

/// A kernel that was asked for, and how sure the layouts are that are taken for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The kernel, and the target whose layouts are taken.
    pub asked: Asked,
    /// How sure they are: of one structure, or of all.
    pub standing: Standing,
    /// A neighbour by which that is judged, if its layouts are others.
    pub other: Option<usize>,
}

impl Choice {
    /// How sure the layout of a structure is for a kernel, or without one all of its layouts.
    pub fn of(layouts: &Layouts, registry: &Registry, asked: Asked, structure: Option<&str>) -> Self {
        let arch = layouts.spec.axis.targets[asked.target].arch;
        let numbers = layouts.spec.axis.numbers(asked.build);
        // What was seen of the kernel under another number is not seen of a revision that this number never had.
        let unseen = asked.is_before_its_build(&layouts.spec.axis).then_some(asked.build.revision);
        let (standing, other) = match choose(&Along { layouts, registry, arch, numbers, unseen, structure }, asked.build) {
            Ok(chosen) => (chosen.standing, chosen.other.map(|(target, _)| target)),
            Err(Absent::Structure { standing }) => (standing, None),
            // It has a target, so that there is such a kernel.
            Err(_) => (Standing::Stated, None),
        };
        Self { asked, standing, other }
    }

    /// Index of the target whose layouts are taken.
    pub fn target(&self) -> usize {
        self.asked.target
    }

    /// Whether another kernel stands in for the one that was asked for, which nobody has seen and the version axis does not have.
    pub fn is_stand_in(&self, axis: &Axis) -> bool {
        (self.standing.is_stand_in() || self.standing == Standing::Stated) && !self.is_of_axis(axis)
    }

    /// Whether it is the very kernel of the version axis.
    pub(crate) fn is_of_axis(&self, axis: &Axis) -> bool {
        self.asked.build == axis.kernels[axis.targets[self.target()].kernel].build
    }

    /// The kernel that was asked for, and that whose layouts are taken if it is another.
    pub fn label(&self, axis: &Axis) -> String {
        let (name, asked) = (axis.target_name(self.target()), &self.asked.name);
        let same = self.is_of_axis(axis);
        let number = asked.rsplit_once('-').and_then(|(build, _)| build.parse().ok());
        let is_number = number.is_some_and(|build: Build| build.number == self.asked.build.number);
        match self.asked.named {
            Named::First(_) if self.is_stand_in(axis) => format!("{name} in place of {}", self.first(axis)),
            Named::First(_) if !same => format!("{}, which has the layouts of {name}", self.first(axis)),
            Named::Kernel if self.is_stand_in(axis) => format!("{name} in place of {asked}"),
            Named::Kernel if same && (is_number || *asked == name) => name,
            Named::Kernel if same => format!("{name}, the kernel of {asked}"),
            Named::Kernel => format!("{asked}, which has the layouts of {name}"),
            Named::First(_) if is_number => format!("{name}, the first of its build"),
            Named::First(_) => format!("{name}, the first kernel of {asked}"),
            Named::Newest => format!("{name}, the newest that has it"),
        }
    }

    /// The kernel that a name of several means.
    fn first(&self, axis: &Axis) -> String {
        format!("{:#}-{}, the first of {}", self.asked.own, axis.targets[self.target()].arch, self.asked.name)
    }

    /// How sure the layout is, in words, and whose it is where an architecture follows another.
    pub fn sentence(&self, axis: &Axis) -> String {
        axis.sentence(&self.standing, axis.targets[self.target()].arch)
    }

    /// The architecture that this kernel's follows, if no symbols of the kernel confirm its layouts.
    pub(crate) fn leader(&self, axis: &Axis) -> Option<Arch> {
        axis.leader(&self.standing, axis.targets[self.target()].arch)
    }

    /// What is to be known of a kernel for which another one stands in.
    pub fn note(&self, axis: &Axis) -> Option<String> {
        let name = axis.target_name(self.target());
        let asked = if let Named::First(_) = self.asked.named { self.first(axis) } else { self.asked.name.clone() };
        let other = self.other.map(|other| format!(", or else {}", axis.target_name(other))).unwrap_or_default();
        self.is_stand_in(axis).then(|| format!("{asked}: {}; taken as {name}{other}", self.sentence(axis)))
    }
}

impl Axis {
    /// How sure a layout of an architecture is, in words, and whose it is where the architecture follows another.
    pub fn sentence(&self, standing: &Standing, arch: Arch) -> String {
        match self.leader(standing, arch) {
            Some(leader) => format!("{standing}; where the specs do not name {arch}, it is inferred from {leader}"),
            None => standing.to_string(),
        }
    }

    fn leader(&self, standing: &Standing, arch: Arch) -> Option<Arch> {
        self.follows.get(&arch).copied().filter(|_| !standing.is_confirmed())
    }

    /// The numbers of a build, and of those that are the same kernel.
    fn numbers(&self, build: Build) -> Vec<[u32; 3]> {
        let own = self.kernels.iter().filter(|kernel| kernel.build.number == build.number);
        own.flat_map(|kernel| &kernel.same).map(|same| same.number).chain([build.number]).collect()
    }
}

/// A structure, or all of them, along the kernels of an architecture.
struct Along<'a> {
    layouts: &'a Layouts,
    registry: &'a Registry,
    arch: Arch,
    numbers: Vec<[u32; 3]>,
    /// A revision that is taken as not seen.
    unseen: Option<u32>,
    structure: Option<&'a str>,
}

/// What a target has.
#[derive(Clone, Copy, PartialEq)]
enum Has<'a> {
    One(LayoutId),
    All(&'a BTreeMap<String, LayoutId>),
}

impl<'a> Line for Along<'a> {
    type Kernel = usize;
    type Layout = Has<'a>;

    fn kernels(&self) -> impl Iterator<Item = (Build, usize)> + Clone {
        self.layouts.spec.axis.along(self.arch)
    }

    fn newest(&self) -> Option<Build> {
        self.layouts.spec.axis.kernels.last().map(|kernel| kernel.build)
    }

    fn layout(&self, target: usize) -> Option<Has<'a>> {
        let all = &self.layouts.by_target[target];
        match self.structure {
            Some(name) => all.get(name).copied().map(Has::One),
            None => Some(Has::All(all)),
        }
    }

    fn seen(&self, number: [u32; 3]) -> impl Iterator<Item = (Build, Evidence)> {
        let own = self.registry.kernels.iter().filter(|seen| seen.arch == self.arch && self.numbers.contains(&seen.build.number));
        let own = own.filter(|seen| self.unseen != Some(seen.build.revision));
        own.filter_map(move |seen| {
            let witness = self.registry.witnesses.get(seen.witness)?;
            let holds = self.structure.is_none_or(|name| witness.holds.contains(name));
            Some((Build { number, ..seen.build }, witness.kind.evidence(holds)?))
        })
    }
}
