//! Forgets evidence: the knowledge that specs and facts would contain if some tables had never been read.
//!
//! A range of the specs ends where an examined build showed a change. If that build was not examined, the range ends at the next
//! examined build of the same architecture, because imports add a row for the first build that shows a change. This file states that
//! rule by itself; it shares nothing with the selection of layouts or with the import.

use etw_layouts::runtime::meta::{Evidence, Examined, Line};
use etw_layouts_codegen::axis::{self, Arch, Build, TargetId};
use etw_layouts_codegen::layouts::{Form, LayoutId, Layouts};
use etw_layouts_codegen::registry::{FactsKind, Registry};
use std::collections::{BTreeMap, BTreeSet};
use tests::project;

/// A build on an architecture.
pub type Target = (Build, Arch);

/// Specs and facts, and the examined builds.
pub struct Known {
    pub layouts: Layouts,
    registry: Registry,
    /// The examined builds in the numbering of the version axis, each with its sets of facts.
    pub examined: BTreeMap<Target, Vec<usize>>,
    /// The structures and unions, each with the evidence for it, in the order of the targets.
    pub structures: Vec<(String, Vec<(Target, Evidence)>)>,
}

/// The knowledge without some of the examined builds.
pub struct Forgotten<'a> {
    pub known: &'a Known,
    pub out: &'a BTreeSet<Target>,
    /// The rows of the version axis by architecture, each with the target that has its layouts.
    rows: BTreeMap<Arch, Vec<(Build, TargetId)>>,
    updates: Vec<axis::Update>,
}

/// One structure of [`Forgotten`], with the evidence that is left.
pub struct One<'a> {
    forgotten: &'a Forgotten<'a>,
    structure: &'a str,
    left: Vec<Examined>,
}

impl Known {
    pub fn read() -> Self {
        let layouts = project().layouts().expect("the specs resolve");
        let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
        let mut examined: BTreeMap<Target, Vec<usize>> = BTreeMap::new();
        for seen in &registry.builds {
            examined.entry((layouts.spec.axis.canonical(seen.build), seen.arch)).or_default().push(seen.facts_file);
        }
        let mut known = Self { layouts, registry, examined, structures: Vec::new() };
        let is_there = |name: &&String| known.layouts.by_target.ids().any(|target| known.layout(target, name).is_some());
        let names = known.layouts.spec.definitions.keys().filter(is_there);
        let evidence =
            |name: &str| known.examined.keys().flat_map(|target| known.evidence(target, name).map(|it| (*target, it))).collect();
        known.structures = names.map(|name| (name.clone(), evidence(name))).collect();
        known
    }

    pub fn layout(&self, target: TargetId, structure: &str) -> Option<LayoutId> {
        let id = self.layouts.by_target[target].get(structure).copied();
        id.filter(|&id| matches!(self.layouts.layouts[id].form, Form::Aggregate(_)))
    }

    /// The evidence of each set of facts about a target for a structure.
    fn evidence(&self, target: &Target, structure: &str) -> impl Iterator<Item = Evidence> {
        self.examined.get(target).into_iter().flatten().filter_map(move |&facts| {
            let facts_file = &self.registry.facts_files[facts];
            facts_file.kind.evidence(facts_file.holds.contains(structure))
        })
    }

    /// Whether a set of facts about a target is a table, not offsets of an image.
    pub fn has_table(&self, target: &Target) -> bool {
        let mut of_target = self.examined.get(target).into_iter().flatten();
        of_target.any(|&facts| self.registry.facts_files[facts].kind != FactsKind::Images)
    }

    /// Forgets the facts about targets. With `keeps_rows`, it is still known since which revision a branch has its updates, because
    /// the month of the same update on another branch shows that.
    pub fn without<'a>(&'a self, out: &'a BTreeSet<Target>, keeps_rows: bool) -> Forgotten<'a> {
        let rows = Arch::ALL.map(|arch| (arch, if keeps_rows { self.rows(arch) } else { self.rows_without(arch, out) })).into();
        let updates = if keeps_rows { self.layouts.spec.axis.updates.clone() } else { self.updates_without(out) };
        Forgotten { known: self, out, rows, updates }
    }

    fn rows(&self, arch: Arch) -> Vec<(Build, TargetId)> {
        self.layouts.spec.axis.along(arch).collect()
    }

    /// The rows of an architecture without the forgotten facts. A row lasts until the next row of its build. If all facts within it
    /// are forgotten, nothing shows its layouts on this architecture, and it is not a row. If the facts about its first revision are
    /// forgotten, it begins with the next examined revision. If the architecture has no facts about the first revision, the row comes
    /// from other architectures and begins when the facts about any architecture begin.
    fn rows_without(&self, arch: Arch, out: &BTreeSet<Target>) -> Vec<(Build, TargetId)> {
        let rows = self.rows(arch);
        let follows = self.layouts.spec.axis.ranges.contains_key(&arch);
        let row = |index: usize| {
            let (begin, target) = rows[index];
            let next = rows.get(index + 1).map(|row| row.0).filter(|next| next.number == begin.number);
            let within = |build: Build| build.number == begin.number && build >= begin && next.is_none_or(|next| build < next);
            let facts: Vec<&Target> = self.examined.keys().filter(|(build, _)| within(*build)).collect();
            let is_left = |fact: &&Target| !out.contains(*fact);
            let own: Vec<&Target> = facts.iter().copied().filter(|fact| fact.1 == arch).collect();
            let has_own = own.iter().any(is_left);
            // An architecture that follows another one has its rows even without facts of its own.
            if !own.is_empty() && !has_own && !follows {
                return None;
            }
            let is_of_own = has_own && own.iter().any(|fact| fact.0 == begin);
            let facts = if is_of_own { own } else { facts };
            let (all, left) = (facts.iter().min(), facts.iter().copied().filter(is_left).min());
            match (all, left) {
                (Some(_), None) => None,
                (Some(first), Some(left)) if first.0 == begin => Some((left.0, target)),
                _ => Some((begin, target)),
            }
        };
        (0..rows.len()).filter_map(row).collect()
    }

    /// The named updates: each begins with the first examined revision, of any architecture, that is left.
    fn updates_without(&self, out: &BTreeSet<Target>) -> Vec<axis::Update> {
        let mut updates = self.layouts.spec.axis.updates.clone();
        let shown = |build: Build| self.examined.keys().filter(move |target| target.0 == build);
        for update in &mut updates {
            for build in std::mem::take(&mut update.revisions) {
                let is_gone = shown(build).next().is_some() && shown(build).all(|target| out.contains(target));
                let later = || {
                    let later = self.examined.keys().filter(|target| target.0.number == build.number && target.0 > build);
                    later.filter(|target| !out.contains(target)).map(|target| target.0).min()
                };
                match if is_gone { later() } else { Some(build) } {
                    Some(build) => update.revisions.push(build),
                    None => update.without.push(build.number),
                }
            }
        }
        updates
    }
}

impl Forgotten<'_> {
    /// The rows of an architecture, oldest first, each with the target that has its layouts.
    pub fn rows(&self, arch: Arch) -> &[(Build, TargetId)] {
        &self.rows[&arch]
    }
}

impl<'a> One<'a> {
    pub fn new(forgotten: &'a Forgotten, (structure, evidence): &'a (String, Vec<(Target, Evidence)>)) -> Self {
        let left = evidence.iter().filter(|(target, _)| !forgotten.out.contains(target));
        let left = left.map(|&((build, arch), evidence)| Examined { build, arch, evidence }).collect();
        Self { forgotten, structure, left }
    }
}

impl Line for One<'_> {
    type Revision = TargetId;
    type Layout = LayoutId;
    type Update<'u>
        = &'u axis::Update
    where
        Self: 'u;

    fn revisions(&self, arch: Arch) -> impl Iterator<Item = (Build, TargetId)> + Clone {
        self.forgotten.rows.get(&arch).into_iter().flatten().copied()
    }

    fn newest(&self) -> Option<Build> {
        self.forgotten.rows.values().filter_map(|rows| rows.last()).map(|row| row.0).max()
    }

    fn layout(&self, target: TargetId) -> Option<LayoutId> {
        self.forgotten.known.layout(target, self.structure)
    }

    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined> {
        let begin = branch.map_or(0, |number| self.left.partition_point(|seen| seen.build.number < number));
        self.left[begin..].iter().take_while(move |seen| branch.is_none_or(|number| seen.build.number == number)).copied()
    }

    fn updates(&self) -> impl Iterator<Item = &axis::Update> {
        self.forgotten.updates.iter()
    }
}
