//! Compares the reported confidence with the truth: removes the knowledge of an examined build, and asks for the build.

use etw_layouts::runtime::meta::{Absent, Confidence, Evidence, Examined, Line, Update, choose};
use etw_layouts_codegen::axis::{self, Arch, Build, TargetId};
use etw_layouts_codegen::layouts::{Form, LayoutId, Layouts};
use etw_layouts_codegen::registry::Registry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use tests::project;

/// A build on an architecture.
type Target = (Build, Arch);

/// Specs and facts, and the examined builds.
struct Known {
    layouts: Layouts,
    registry: Registry,
    /// The examined builds in the numbering of the version axis, each with its sets of facts.
    examined: BTreeMap<Target, Vec<usize>>,
    /// The structures and unions.
    structures: Vec<String>,
}

/// The knowledge without some of the examined builds.
struct Without<'a> {
    known: &'a Known,
    out: &'a BTreeSet<Target>,
    /// The kernels of the version axis by architecture, each with the target that has its layouts.
    rows: BTreeMap<Arch, Vec<(Build, TargetId)>>,
    updates: Vec<axis::Update>,
}

/// One structure of [`Without`].
struct One<'a>(&'a Without<'a>, &'a str);

/// The results: right structures; wrong structures reported as uncertain; wrong structures reported as certain.
#[derive(Default)]
struct Count {
    right: usize,
    open: usize,
    sure: Vec<String>,
    by_word: BTreeMap<String, [usize; 2]>,
}

impl Line for One<'_> {
    type Kernel = TargetId;
    type Layout = LayoutId;

    fn kernels(&self, arch: Arch) -> impl Iterator<Item = (Build, TargetId)> + Clone {
        self.0.rows.get(&arch).into_iter().flatten().copied()
    }

    fn newest(&self) -> Option<Build> {
        self.0.known.layouts.spec.axis.kernels.last().map(|kernel| kernel.build)
    }

    fn layout(&self, target: TargetId) -> Option<LayoutId> {
        self.0.known.layout(target, self.1)
    }

    fn examined(&self, branch: Option<[u32; 3]>) -> impl Iterator<Item = Examined> {
        let [first, last] = [0, u32::MAX].map(|end| branch.map(|number| (Build { number, revision: end }, Arch::X86)));
        let range = (first.map_or(Bound::Unbounded, Bound::Included), last.map_or(Bound::Unbounded, Bound::Included));
        let left = self.0.known.examined.range(range).filter(|(target, _)| !self.0.out.contains(target));
        left.flat_map(|(&(build, arch), facts)| {
            let evidence = facts.iter().filter_map(|&facts| self.0.known.evidence(facts, self.1));
            evidence.map(move |evidence| Examined { build, arch, evidence })
        })
    }

    fn updates(&self) -> impl Iterator<Item = Update<'_>> {
        self.0.updates.iter().map(axis::Update::data)
    }
}

impl Known {
    fn read() -> Self {
        let layouts = project().layouts().expect("the specs resolve");
        let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
        let mut examined: BTreeMap<Target, Vec<usize>> = BTreeMap::new();
        for seen in &registry.kernels {
            examined.entry((layouts.spec.axis.canonical(seen.build), seen.arch)).or_default().push(seen.witness);
        }
        let mut known = Self { layouts, registry, examined, structures: Vec::new() };
        let is_there = |name: &&String| known.layouts.by_target.ids().any(|target| known.layout(target, name).is_some());
        known.structures = known.layouts.spec.definitions.keys().filter(is_there).cloned().collect();
        known
    }

    fn layout(&self, target: TargetId, structure: &str) -> Option<LayoutId> {
        let id = self.layouts.by_target[target].get(structure).copied();
        id.filter(|&id| matches!(self.layouts.layouts[id].form, Form::Aggregate(_)))
    }

    fn evidence(&self, facts: usize, structure: &str) -> Option<Evidence> {
        let witness = &self.registry.witnesses[facts];
        witness.kind.evidence(witness.holds.contains(structure))
    }

    /// Removes builds. A kernel of the axis that only these builds show moves to the next examined build of its branch with its
    /// layouts. Without such a build, the kernel is removed. The updates of the branch change in the same way.
    fn without<'a>(&'a self, out: &'a BTreeSet<Target>, keeps_rows: bool) -> Without<'a> {
        let axis = &self.layouts.spec.axis;
        let left = |build: Build| self.examined.keys().any(|target| target.0 == build && !out.contains(target));
        let is_out = |build: Build| !keeps_rows && out.iter().any(|target| target.0 == build) && !left(build);
        let next = |build: Build| {
            let later = self.examined.keys().filter(|target| target.0.number == build.number && target.0 > build);
            later.filter(|target| !out.contains(target)).map(|target| target.0).min()
        };
        let kernels: Vec<Build> = axis.kernels.iter().map(|kernel| kernel.build).collect();
        let moved = |build: Build| {
            let end = kernels.iter().copied().find(|kernel| *kernel > build);
            next(build).filter(|next| end.is_none_or(|end| *next < end))
        };
        let row = |(build, target): (Build, TargetId)| match is_out(build) {
            true => Some((moved(build)?, target)),
            false => Some((build, target)),
        };
        let rows = Arch::ALL.map(|arch| (arch, axis.along(arch).filter_map(row).collect())).into();
        let mut updates = axis.updates.clone();
        for update in &mut updates {
            let gone: Vec<Build> = update.kernels.iter().copied().filter(|build| is_out(*build)).collect();
            for build in gone {
                match next(build) {
                    Some(next) => update.kernels.iter_mut().filter(|kernel| **kernel == build).for_each(|kernel| *kernel = next),
                    None => {
                        update.kernels.retain(|kernel| *kernel != build);
                        update.without.push(build.number);
                    }
                }
            }
        }
        Without { known: self, out, rows, updates }
    }
}

impl Without<'_> {
    /// Asks for all structures of the removed builds for which the builds' own symbols show the right answer.
    fn ask(&self, count: &mut Count) {
        let Self { known, .. } = self;
        for &(build, arch) in self.out {
            let truth = known.layouts.spec.axis.kernel(build, arch).expect("an examined build").target;
            for structure in &known.structures {
                let layout = known.layout(truth, structure);
                let own = known.examined[&(build, arch)].iter().filter_map(|&facts| known.evidence(facts, structure));
                let shows = own.into_iter().any(|evidence| match evidence {
                    Evidence::Symbols | Evidence::Converted => true,
                    Evidence::Lacks => layout.is_none(),
                    Evidence::Partly => false,
                });
                if !shows {
                    continue;
                }
                let (chosen, confidence) = match choose(&One(self, structure), build, arch) {
                    Ok(chosen) => (Some(chosen.layout), Some(chosen.confidence)),
                    Err(Absent::Structure { confidence }) => (None, Some(confidence)),
                    Err(_) => (None, None),
                };
                let is_sure = confidence.is_some_and(|it| it.is_sure() || it == Confidence::PartlyVerified);
                match (chosen == layout, is_sure) {
                    (true, _) => count.right += 1,
                    (false, false) => count.open += 1,
                    (false, true) => count.sure.push(format!("{structure} at {build} {arch}: {confidence:?}, not {layout:?}")),
                }
                let word = confidence.map_or("no such kernel".to_owned(), |it| match it.reason() {
                    Some(reason) => format!("{}: {reason}", it.word()),
                    None => it.word().to_owned(),
                });
                count.by_word.entry(word).or_default()[usize::from(chosen != layout)] += 1;
            }
        }
    }
}

impl Count {
    fn all(&self) -> usize {
        self.right + self.open + self.sure.len()
    }

    fn print(&self, what: &str) {
        println!("{what}: {} right, {} wrong and uncertain, {} wrong and sure", self.right, self.open, self.sure.len());
        for (word, [right, wrong]) in &self.by_word {
            println!("  {word:24} {right:6} right, {wrong:6} wrong");
        }
        assert!(self.sure.is_empty(), "{what}: {:#?}", &self.sure[..self.sure.len().min(20)]);
    }
}

/// Removes each examined build in turn.
#[test]
fn no_left_out_build_is_wrong_and_certain() {
    let known = Known::read();
    let mut count = Count::default();
    for &target in known.examined.keys() {
        known.without(&BTreeSet::from([target]), false).ask(&mut count);
    }
    count.print(&format!("{} builds, each left out", known.examined.len()));
    assert!(count.right * 100 >= count.all() * 99 && count.all() > known.examined.len(), "{}", count.all());
}

/// Removes each update of a branch in turn: all its examined builds on the branch, up to the next update of the branch.
#[test]
fn no_left_out_update_is_wrong_and_certain() {
    let known = Known::read();
    let updates = &known.layouts.spec.axis.updates;
    let firsts: BTreeSet<Build> = updates.iter().flat_map(|update| update.kernels.iter().copied()).collect();
    let [mut with, mut moved, mut alone] = [(); 3].map(|()| Count::default());
    for &first in &firsts {
        let end = firsts.iter().copied().find(|next| *next > first && next.number == first.number);
        let is_own = |build: Build| build.number == first.number && build >= first && end.is_none_or(|end| build < end);
        let out: BTreeSet<Target> = known.examined.keys().copied().filter(|target| is_own(target.0)).collect();
        // The month of the same update on another branch shows that the branch has the update, and since when.
        let mut own = updates.iter().filter(|update| update.first_of(first) == Some(first));
        match own.all(|update| update.kernels.len() > 1) {
            true => {
                known.without(&out, true).ask(&mut with);
                known.without(&out, false).ask(&mut moved);
            }
            false => known.without(&out, false).ask(&mut alone),
        }
    }
    with.print("updates of a branch, each left out, that another branch has");
    moved.print("the same, where nobody knows since when the branch has them");
    alone.print("updates that no other branch has");
    assert!(with.right * 10 >= with.all() * 9 && with.all() > 0, "{} of {}", with.right, with.all());
}
