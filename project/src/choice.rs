//! The choice of layouts for a build, and the confidence in them, which `runtime` derives from specs and facts.

use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetId, Update};
use etw_layouts_codegen::layouts::{LayoutId, Layouts};
use etw_layouts_codegen::registry::{ExaminedBuild, FactsFile, Registry};
use etw_layouts_codegen::{Asked, SelectedBy};
use etw_layouts_runtime::meta::{Confidence, Examined, InferredFrom, Line, choose};
use std::collections::BTreeMap;

/// A selected build, the layouts that are used for it, and the confidence in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The selected build.
    pub asked: Asked,
    /// The confidence in the layout of one structure, or in all layouts.
    pub confidence: Confidence,
    /// The targets whose layouts the build can have. The first one is selected; there are others, with other layouts, if the layout is
    /// uncertain or partly verified, or if the symbols of the build lack the structure.
    pub candidates: Vec<TargetId>,
    /// The named updates that brought the layout to this build, if the layout is inferred from them.
    pub changed_by: Option<String>,
    /// The first later revision of the build with another layout of the structure, if no revision is selected.
    pub changed_later: Option<Build>,
}

impl Choice {
    /// Selects the layouts for a build, and derives the confidence in one structure or, if `structure` is `None`, in all layouts.
    pub fn of(layouts: &Layouts, registry: &Registry, asked: Asked, structure: Option<&str>) -> Self {
        let examined = examined(layouts, registry, structure);
        Self::by(Along { layouts, unseen: None, structure, examined: &examined }, asked)
    }

    /// The choices for one structure at several builds.
    pub fn along(layouts: &Layouts, registry: &Registry, builds: &[Asked], structure: &str) -> Vec<Self> {
        let examined = examined(layouts, registry, Some(structure));
        let line = Along { layouts, unseen: None, structure: Some(structure), examined: &examined };
        builds.iter().map(|asked| Self::by(line, asked.clone())).collect()
    }

    fn by(line: Along, asked: Asked) -> Self {
        let Along { layouts, structure, .. } = line;
        let axis = &layouts.spec.axis;
        let arch = axis.targets[asked.target].arch;
        // A revision that was examined under another build number is no evidence if this build number never had it.
        let unseen = asked.is_before_its_build(axis).then_some(asked.build);
        let line = Along { unseen, ..line };
        // The selected build has a target, so there is a row for it.
        let chosen = choose(&line, asked.build, arch).expect("a build of the version axis");
        let (confidence, candidates) = (chosen.confidence, chosen.candidates(&line).map(|(target, _)| target).collect());
        let by_update = matches!(confidence, Confidence::Inferred(InferredFrom::Unverified { .. } | InferredFrom::Branch { .. }));
        let changed_by = structure.filter(|_| by_update).and_then(|name| changed_by(layouts, &asked, name));
        let changed_later = structure.and_then(|name| changed_later(layouts, &asked, name));
        Self { asked, confidence, candidates, changed_by, changed_later }
    }

    /// The target whose layouts are used.
    pub fn target(&self) -> TargetId {
        self.candidates[0]
    }

    /// Whether the selected build has not been examined and is not on the version axis, or uses the layout of another build.
    pub fn is_stand_in(&self, axis: &Axis) -> bool {
        let is_open = self.confidence.is_inferred() || self.confidence == Confidence::Documented { unverifiable: false };
        is_open && !self.is_of_axis(axis)
    }

    /// Whether the selected build is on the version axis and uses its own layout.
    pub(crate) fn is_of_axis(&self, axis: &Axis) -> bool {
        self.asked.build == axis.revision_of(self.target()).build
    }

    /// The selected build, and the target whose layouts are used, if that is another build.
    pub fn label(&self, axis: &Axis) -> String {
        let (name, asked) = (axis.target_name(self.target()), &self.asked.name);
        let same = self.is_of_axis(axis);
        let number = asked.rsplit_once('-').and_then(|(build, _)| build.parse().ok());
        let is_number = number.is_some_and(|build: Build| build.number == self.asked.build.number);
        // An image shows only some offsets, so it does not prove that all layouts of the build are those of the row.
        let is_used = self.is_stand_in(axis) || !same && self.confidence == Confidence::PartlyVerified;
        match self.asked.selected_by {
            SelectedBy::First(_) if is_used => format!("{}, using the layouts of {name}", self.first(axis)),
            SelectedBy::First(_) if !same => format!("{}, which has the layouts of {name}", self.first(axis)),
            SelectedBy::Revision if is_used => format!("{asked}, using the layouts of {name}"),
            SelectedBy::Revision if same && (is_number || *asked == name) => name,
            SelectedBy::Revision if same => format!("{name}, the same kernel as {asked}"),
            SelectedBy::Revision => format!("{asked}, which has the layouts of {name}"),
            SelectedBy::First(_) if is_number => format!("{name}, the first known revision of its build"),
            SelectedBy::First(_) => format!("{name}, the first build of {asked}"),
            SelectedBy::Newest if is_used => format!("{:#}, the newest known build, using the layouts of {name}", self.asked.own),
            SelectedBy::Newest => format!("{name}, the newest known build"),
        }
    }

    /// The build that a name of several builds selects.
    fn first(&self, axis: &Axis) -> String {
        format!("{:#}-{}, the first of {}", self.asked.own, axis.targets[self.target()].arch, self.asked.name)
    }

    /// The name of a target, with the build that the confidence names if that build uses its layouts.
    fn row(&self, axis: &Axis, target: TargetId) -> String {
        let (name, arch) = (axis.target_name(target), axis.targets[target].arch);
        let is_own = |build: &Build| axis.select(*build, arch).is_ok_and(|asked| asked.target == target);
        let build = self.confidence.neighbours().into_iter().flatten().find(is_own);
        match build.filter(|build| axis.revisions[axis.targets[target].revision].build != *build) {
            Some(build) => format!("{name} ({build} has the same layouts)"),
            None => name,
        }
    }

    /// The confidence as a sentence.
    pub fn sentence(&self, axis: &Axis) -> String {
        let by = self.changed_by.as_ref().map(|update| format!("; changed by update {update}")).unwrap_or_default();
        sentence(axis, &self.confidence, axis.targets[self.target()].arch) + &by
    }

    /// The architecture whose layouts are used for this one, if no symbols of the build verify them.
    pub(crate) fn leader(&self, axis: &Axis) -> Option<Arch> {
        leader(axis, &self.confidence, axis.targets[self.target()].arch)
    }

    /// A note for a build that uses the layouts of another build, or whose later revisions have another layout.
    pub fn note(&self, axis: &Axis) -> Option<String> {
        let later = || {
            self.changed_later.map(|build| format!("{}: later revisions have another layout, from {build} on", self.first(axis)))
        };
        self.stand_in(axis).or_else(later)
    }

    fn stand_in(&self, axis: &Axis) -> Option<String> {
        let asked = if let SelectedBy::First(_) = self.asked.selected_by { self.first(axis) } else { self.asked.name.clone() };
        let use_of = match &self.candidates[..] {
            [own, others @ ..] if !others.is_empty() => {
                let others: Vec<String> = others.iter().map(|other| self.row(axis, *other)).collect();
                format!("showing the layouts of {}; the layouts can also be those of {}", self.row(axis, *own), others.join(", "))
            }
            _ => format!("uses the layouts of {}", axis.target_name(self.target())),
        };
        self.is_stand_in(axis).then(|| format!("{asked}: {}; {use_of}", self.sentence(axis)))
    }
}

/// The confidence in a layout as text. If the specs do not name `arch`, the text names the architecture that layouts are inferred
/// from.
pub fn sentence(axis: &Axis, confidence: &Confidence, arch: Arch) -> String {
    match leader(axis, confidence, arch) {
        Some(leader) if !matches!(confidence, Confidence::Inferred(InferredFrom::Unverified { .. })) => {
            format!("{confidence}; where the specs do not name {arch}, it is inferred from {leader}")
        }
        _ => confidence.to_string(),
    }
}

/// The updates that brought the layout of a structure to the branch of a build.
fn changed_by(layouts: &Layouts, asked: &Asked, structure: &str) -> Option<String> {
    let axis = &layouts.spec.axis;
    let of = |target: TargetId| layouts.by_target[target].get(structure);
    let branch = axis.line(asked.build, axis.targets[asked.target].arch).into_iter().filter(|&target| target <= asked.target);
    let since = branch.rev().take_while(|&target| of(target) == of(asked.target)).last()?;
    let build = axis.revision_of(since).build;
    let own = axis.updates.iter().filter(|update| update.first_of(build) == Some(build));
    let names: Vec<&str> = own.map(|update| update.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

/// For a build that was selected without a revision: the first later revision with another layout of a structure.
fn changed_later(layouts: &Layouts, asked: &Asked, structure: &str) -> Option<Build> {
    let axis = &layouts.spec.axis;
    let of = |target: TargetId| layouts.by_target[target].get(structure);
    let line = axis.along(axis.targets[asked.target].arch);
    let mut later = line.filter(|(build, target)| build.number == asked.build.number && *target > asked.target);
    let is_first = matches!(asked.selected_by, SelectedBy::First(_));
    let (first, _) = later.find(|(_, target)| is_first && of(*target) != of(asked.target))?;
    // Builds with the same kernel have the same revisions.
    Some(Build { number: asked.own.number, ..first })
}

fn leader(axis: &Axis, confidence: &Confidence, arch: Arch) -> Option<Arch> {
    axis.ranges.get(&arch).copied().filter(|_| !confidence.is_sure())
}

/// The examined builds in the numbering of the version axis, in order, with their evidence for a structure or for all layouts.
fn examined(layouts: &Layouts, registry: &Registry, structure: Option<&str>) -> Vec<Examined> {
    let holds = |facts_file: &FactsFile| structure.is_none_or(|name| facts_file.holds.contains(name));
    let evidence: Vec<_> = registry.facts_files.iter().map(|facts_file| facts_file.kind.evidence(holds(facts_file))).collect();
    let examined = |seen: &ExaminedBuild| {
        let evidence = (*evidence.get(seen.facts_file)?)?;
        Some(Examined { build: layouts.spec.axis.canonical(seen.build), arch: seen.arch, evidence })
    };
    let mut list: Vec<Examined> = registry.builds.iter().filter_map(examined).collect();
    list.sort_by_key(|examined| examined.build);
    list
}

/// The layouts of a structure, or of all structures, along the version axis.
#[derive(Clone, Copy)]
struct Along<'a> {
    layouts: &'a Layouts,
    /// A build that is treated as not examined.
    unseen: Option<Build>,
    structure: Option<&'a str>,
    /// The examined builds, in order.
    examined: &'a [Examined],
}

/// The layouts of a target.
#[derive(Clone, Copy, PartialEq)]
enum Has<'a> {
    One(LayoutId),
    All(&'a BTreeMap<String, LayoutId>),
}

impl<'a> Line for Along<'a> {
    type Revision = TargetId;
    type Layout = Has<'a>;
    type Update<'u>
        = &'u Update
    where
        Self: 'u;

    fn revisions(&self, arch: Arch) -> impl Iterator<Item = (Build, TargetId)> + Clone {
        self.layouts.spec.axis.along(arch)
    }

    fn newest(&self) -> Option<Build> {
        self.layouts.spec.axis.revisions.last().map(|kernel| kernel.build)
    }

    fn layout(&self, target: TargetId) -> Option<Has<'a>> {
        let all = &self.layouts.by_target[target];
        match self.structure {
            Some(name) => all.get(name).copied().map(Has::One),
            None => Some(Has::All(all)),
        }
    }

    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined> {
        let begin = branch.map_or(0, |number| self.examined.partition_point(|examined| examined.build.number < number));
        let own =
            self.examined[begin..].iter().take_while(move |examined| branch.is_none_or(|number| examined.build.number == number));
        own.copied().filter(|examined| self.unseen != Some(examined.build))
    }

    fn updates(&self) -> impl Iterator<Item = &Update> {
        self.layouts.spec.axis.updates.iter()
    }
}
