//! A standing against the truth: each kernel that was seen is taken out and asked for.

use etw_layouts::runtime::meta::{Absent, Evidence, Line, Standing, choose};
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::{Form, LayoutId, Layouts};
use etw_layouts_codegen::registry::{Registry, Seen, WitnessKind};
use std::collections::{BTreeMap, BTreeSet};
use tests::project;

/// Kernels that were seen, by what the version axis calls them.
type Kernels<'a> = Vec<(Build, &'a Seen)>;

/// What would be known of a structure had nobody seen one of the kernels.
struct Without<'a> {
    /// The kernels of the version axis, and the layout at each.
    rows: Vec<(Build, Option<LayoutId>)>,
    newest: Build,
    /// The other kernels of its build that were seen.
    others: &'a [(Build, &'a Seen)],
    registry: &'a Registry,
    structure: &'a str,
}

impl Line for Without<'_> {
    type Kernel = usize;
    type Layout = LayoutId;

    fn kernels(&self) -> impl Iterator<Item = (Build, usize)> + Clone {
        self.rows.iter().enumerate().map(|(row, (build, _))| (*build, row))
    }

    fn newest(&self) -> Option<Build> {
        Some(self.newest)
    }

    fn layout(&self, row: usize) -> Option<LayoutId> {
        self.rows[row].1
    }

    fn seen(&self, _: [u32; 3]) -> impl Iterator<Item = (Build, Evidence)> {
        self.others.iter().filter_map(|(build, seen)| Some((*build, evidence(self.registry, seen, self.structure)?)))
    }
}

fn evidence(registry: &Registry, seen: &Seen, structure: &str) -> Option<Evidence> {
    let witness = &registry.witnesses[seen.witness];
    witness.kind.evidence(witness.holds.contains(structure))
}

/// Where each kernel has its layouts from when one is taken out: what the axis has from that kernel on, it has from the next on that
/// was seen with the same layouts, and if there is none, nobody would know of it.
fn rows(layouts: &Layouts, arch: Arch, out: Build, others: &[(Build, &Seen)]) -> Vec<(Build, usize)> {
    let all: Vec<_> = layouts.spec.axis.along(arch).collect();
    let next = |row: usize| all.get(row + 1).map(|(build, _)| *build);
    let moved = |(row, &(build, target)): (usize, &(Build, usize))| match build == out {
        false => Some((build, target)),
        true => {
            let later = others.iter().map(|(other, _)| *other).filter(|other| *other > out);
            let same = later.filter(|other| other.number == out.number && next(row).is_none_or(|next| *other < next));
            Some((same.min()?, target))
        }
    };
    all.iter().enumerate().filter_map(moved).collect()
}

/// Each kernel of the registry, and each structure of which its own symbols tell: it is never said to be proven, nor to agree where
/// the layout is another.
#[test]
fn no_kernel_that_is_taken_out_is_surer_than_it_is_right() {
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let registry = project().registry(axis).expect("the facts can be read");
    let mut builds: BTreeMap<(Arch, [u32; 3]), Kernels> = BTreeMap::new();
    for seen in &registry.kernels {
        let build = axis.canonical(seen.build);
        builds.entry((seen.arch, build.number)).or_default().push((build, seen));
    }
    let structures = layouts.spec.definitions.keys().map(String::as_str);
    let of = |target: usize, name: &str| {
        let id = layouts.by_target[target].get(name).copied();
        id.filter(|&id| matches!(layouts.layouts[id].form, Form::Aggregate(_)))
    };
    let structures: Vec<_> = structures.filter(|name| (0..axis.targets.len()).any(|target| of(target, name).is_some())).collect();
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let (mut kernels, mut wrong) = (0, Vec::new());
    for ((arch, _), of_build) in &builds {
        let all: BTreeSet<Build> = of_build.iter().map(|(build, _)| *build).collect();
        for &out in &all {
            kernels += 1;
            let (own, others): (Kernels, Kernels) = of_build.iter().partition(|(build, _)| *build == out);
            let truth = axis.kernel(out, *arch).expect("a kernel that was seen").target;
            let rows = rows(&layouts, *arch, out, &others);
            for &structure in &structures {
                let layout = of(truth, structure);
                // Its symbols tell of the structure, or that it is not there.
                let tells = own.iter().filter_map(|(_, seen)| evidence(&registry, seen, structure)).any(|said| match said {
                    Evidence::Symbols | Evidence::Converted => true,
                    Evidence::Lacks => layout.is_none(),
                    Evidence::Partly => false,
                });
                if !tells {
                    continue;
                }
                let rows = rows.iter().map(|(build, target)| (*build, of(*target, structure))).collect();
                let newest = axis.kernels.last().expect("a kernel").build;
                let without = Without { rows, newest, others: &others, registry: &registry, structure };
                let (chosen, standing) = match choose(&without, out) {
                    Ok(chosen) => (Some(chosen.layout), Some(chosen.standing)),
                    Err(Absent::Structure { standing }) => (None, Some(standing)),
                    Err(_) => (None, None),
                };
                let right = chosen == layout;
                counts.entry(standing.map_or("no such kernel", |it| it.word())).or_default()[usize::from(right)] += 1;
                let claims = match standing {
                    Some(Standing::Agree { .. }) => !right,
                    Some(standing) => standing.is_confirmed() || standing == Standing::Partly,
                    None => false,
                };
                if claims {
                    wrong.push(format!("{structure} at {out} {arch}: {standing:?}, layout {chosen:?}, not {layout:?}"));
                }
            }
        }
    }
    println!("{kernels} kernels, each taken out and asked for, {} structures:", structures.len());
    for (word, [wrong, right]) in &counts {
        println!("  {word:15} {right:6} right, {wrong:6} not");
    }
    assert!(wrong.is_empty(), "{} of them: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    let whole = registry.witnesses.iter().any(|witness| witness.kind != WitnessKind::Images);
    assert!(whole && counts.values().flatten().sum::<usize>() > kernels, "{counts:?}");
}
