//! How sure the layouts of a build are: the confidence that `runtime` derives, over specs and facts.

use etw_layouts_codegen::axis::{Arch, Axis, Build};
use etw_layouts_codegen::layouts::{LayoutId, Layouts};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::{Asked, Named};
use etw_layouts_runtime::meta::{Absent, Confidence, Examined, Line, Reason, Update, choose};
use std::collections::BTreeMap;

/// A kernel that was asked for, and how sure the layouts are that are taken for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The kernel, and the target whose layouts are taken.
    pub asked: Asked,
    /// How sure they are: of one structure, or of all.
    pub confidence: Confidence,
    /// A neighbour by which that is judged, if its layouts are others.
    pub other: Option<usize>,
    /// The named updates with which the layout came to this build, if that is what it is inferred by.
    pub changed_by: Option<String>,
}

impl Choice {
    /// How sure the layout of a structure is for a kernel, or without one all of its layouts.
    pub fn of(layouts: &Layouts, registry: &Registry, asked: Asked, structure: Option<&str>) -> Self {
        let axis = &layouts.spec.axis;
        let arch = axis.targets[asked.target].arch;
        // What was examined under another number is not evidence for a revision that this number never had.
        let unseen = asked.is_before_its_build(axis).then_some(asked.build);
        let (confidence, other) = match choose(&Along { layouts, registry, unseen, structure }, asked.build, arch) {
            Ok(chosen) => (chosen.confidence, chosen.other.map(|(target, _)| target)),
            Err(Absent::Structure { confidence }) => (confidence, None),
            // It has a target, so that there is such a kernel.
            Err(_) => (Confidence::Documented { unverifiable: false }, None),
        };
        let by_update = matches!(confidence, Confidence::Inferred(Reason::Architecture { .. } | Reason::Branch { .. }));
        let changed_by = structure.filter(|_| by_update).and_then(|name| changed_by(layouts, &asked, name));
        Self { asked, confidence, other, changed_by }
    }

    /// Index of the target whose layouts are taken.
    pub fn target(&self) -> usize {
        self.asked.target
    }

    /// Whether another kernel stands in for the one that was asked for, which nobody has seen and the version axis does not have.
    pub fn is_stand_in(&self, axis: &Axis) -> bool {
        let is_open = self.confidence.is_inferred() || self.confidence == Confidence::Documented { unverifiable: false };
        is_open && !self.is_of_axis(axis)
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

    /// How sure the layout is, in words.
    pub fn sentence(&self, axis: &Axis) -> String {
        let by = self.changed_by.as_ref().map(|update| format!("; changed by update {update}")).unwrap_or_default();
        sentence(axis, &self.confidence, axis.targets[self.target()].arch) + &by
    }

    /// The architecture that this kernel's follows, if no symbols of the kernel verify its layouts.
    pub(crate) fn leader(&self, axis: &Axis) -> Option<Arch> {
        leader(axis, &self.confidence, axis.targets[self.target()].arch)
    }

    /// What is to be known of a kernel for which another one stands in.
    pub fn note(&self, axis: &Axis) -> Option<String> {
        let name = axis.target_name(self.target());
        let asked = if let Named::First(_) = self.asked.named { self.first(axis) } else { self.asked.name.clone() };
        let other = self.other.map(|other| format!(", or else {}", axis.target_name(other))).unwrap_or_default();
        self.is_stand_in(axis).then(|| format!("{asked}: {}; taken as {name}{other}", self.sentence(axis)))
    }
}

/// How sure a layout of an architecture is, in words, and which architecture it is taken from where the specs do not name its own.
pub fn sentence(axis: &Axis, confidence: &Confidence, arch: Arch) -> String {
    match leader(axis, confidence, arch) {
        Some(leader) if !matches!(confidence, Confidence::Inferred(Reason::Architecture { .. })) => {
            format!("{confidence}; where the specs do not name {arch}, it is inferred from {leader}")
        }
        _ => confidence.to_string(),
    }
}

/// The updates of the build at which its branch got the layout of a structure.
fn changed_by(layouts: &Layouts, asked: &Asked, structure: &str) -> Option<String> {
    let axis = &layouts.spec.axis;
    let of = |target: usize| layouts.by_target[target].get(structure);
    let branch = axis.line(asked.build, axis.targets[asked.target].arch).into_iter().filter(|&target| target <= asked.target);
    let since = branch.rev().take_while(|&target| of(target) == of(asked.target)).last()?;
    let build = axis.kernels[axis.targets[since].kernel].build;
    let own = axis.updates.iter().filter(|update| update.first_of(build) == Some(build));
    let names: Vec<&str> = own.map(|update| update.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

fn leader(axis: &Axis, confidence: &Confidence, arch: Arch) -> Option<Arch> {
    axis.follows.get(&arch).copied().filter(|_| !confidence.is_verified())
}

/// The numbers of a build, and of those that are the same kernel.
fn numbers(axis: &Axis, number: [u32; 3]) -> Vec<[u32; 3]> {
    let own = axis.kernels.iter().filter(|kernel| kernel.build.number == number);
    own.flat_map(|kernel| &kernel.same).map(|same| same.number).chain([number]).collect()
}

/// A structure, or all of them, along the kernels.
struct Along<'a> {
    layouts: &'a Layouts,
    registry: &'a Registry,
    /// A build that is taken as not examined.
    unseen: Option<Build>,
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

    fn kernels(&self, arch: Arch) -> impl Iterator<Item = (Build, usize)> + Clone {
        self.layouts.spec.axis.along(arch)
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

    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined> {
        let axis = &self.layouts.spec.axis;
        let numbers = branch.map(|number| numbers(axis, number));
        self.registry.kernels.iter().filter_map(move |seen| {
            let build = match (branch, &numbers) {
                (Some(number), Some(numbers)) if numbers.contains(&seen.build.number) => Build { number, ..seen.build },
                (Some(_), _) => return None,
                (None, _) => axis.canonical(seen.build),
            };
            let witness = self.registry.witnesses.get(seen.witness).filter(|_| self.unseen != Some(build))?;
            let holds = self.structure.is_none_or(|name| witness.holds.contains(name));
            Some(Examined { build, arch: seen.arch, evidence: witness.kind.evidence(holds)? })
        })
    }

    fn updates(&self) -> impl Iterator<Item = Update<'_>> {
        self.layouts.spec.axis.updates.iter().map(|update| update.data())
    }
}
