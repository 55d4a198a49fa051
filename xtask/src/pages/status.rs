//! Verification status by release, by update, and by structure.

use etw_layouts_codegen::axis::{Arch, Build, PerTarget, TargetId, TargetSet};
use etw_layouts_codegen::layouts::{Form, Layouts};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::evidence::{Evidence, confirmed};
use etw_layouts_project::verify;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The page: a table of the releases, the updates of each, and a table of the structures.
pub fn page(layouts: &Layouts, registry: &Registry) -> Result<String, crate::Error> {
    let names = verify::names(layouts, None)?;
    let seen = Seen::of(layouts, registry);
    let mut out = String::from(
        "# Status\n\n\
         Written by `cargo xtask generate` from specs and facts: the verified layouts of each Windows release, newest first; the updates that\n\
         changed layouts; and the structures. `etw show STRUCTURE --build B` prints the evidence for one structure in one build.\n\n\
         Examined builds are counted by their evidence:\n\n\
         - *PDB*: the symbols of the build;\n\
         - *converted symbols*: symbols that lost some names and types in a conversion, but no offsets;\n\
         - *image only*: a kernel image that shows the offsets of some members.\n\n\
         Structures and enumerations are counted by the lowest confidence of their layouts in the release:\n\n\
         - *verified (PDB)*: the symbols of a build with the layout contain the type;\n\
         - *verified (converted)*: only converted symbols contain the type;\n\
         - *partly verified*: only an image shows some of its members;\n\
         - *not in public symbols*: no public symbols contain the type;\n\
         - *not examined*: the layout is documented in published references, or inferred from other builds.\n\n\
         A layout is verified for the counted builds. For the revisions between them, it is inferred.\n\n\
         | release | | PDB | converted symbols | image only | verified (PDB) | verified (converted) | partly verified | not in public symbols | not examined |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    let axis = &layouts.spec.axis;
    let of_version = |version: usize, arch: Arch| -> Vec<TargetId> {
        let own = axis.along(arch).map(|(_, target)| target);
        own.filter(|&target| axis.revision_of(target).release == version).collect()
    };
    for (version, stated) in axis.releases.iter().enumerate().rev() {
        let mut release = stated.name.as_str();
        for arch in ARCHITECTURES {
            let targets = of_version(version, arch);
            if targets.is_empty() {
                continue;
            }
            let kernels = READ.map(|kind| seen.range(&targets, kind));
            let counts = seen.counts(&names, &targets).map(|count| if count == 0 { "–".into() } else { count.to_string() });
            let _ = writeln!(out, "| {release} | {arch} | {} | {} |", kernels.join(" | "), counts.join(" | "));
            release = "";
        }
    }
    if seen.elsewhere > 0 {
        let _ = writeln!(out, "\n{} more examined builds belong to releases outside the version axis.", seen.elsewhere);
    }
    out += "\n## Updates\n\nBuilds that changed layouts, the number of examined builds up to the next one, and the changed structures. The first build of a release is\n\
            compared with the first build of the preceding release.\n";
    for (version, stated) in axis.releases.iter().enumerate().rev() {
        let _ = write!(out, "\n### {}\n\n", stated.name);
        out += "| from | PDB | converted symbols | image only | changed layouts |\n|---|---|---|---|---|\n";
        for arch in ARCHITECTURES {
            let older = (0..version).rev().find_map(|older| Some((older, *of_version(older, arch).first()?)));
            let mut before = None;
            for target in of_version(version, arch) {
                let kernels = READ.map(|kind| seen.count(target, kind));
                let changed = match (before, older) {
                    (Some(before), _) => changed(layouts, &names, before, target),
                    (None, Some((older, first))) => {
                        format!("since {}: {}", axis.releases[older].label(), changed(layouts, &names, first, target))
                    }
                    (None, None) => "first build of this architecture".into(),
                };
                before = Some(target);
                let _ = writeln!(out, "| {} | {} | {changed} |", axis.target_name(target), kernels.join(" | "));
            }
        }
    }
    out += &structures(layouts, registry);
    Ok(out)
}

/// Architectures in the order of the rows.
const ARCHITECTURES: [Arch; 3] = [Arch::X64, Arch::X86, Arch::Arm64];

/// Evidence levels in the order of the columns, strongest first.
const READ: [Evidence; 3] = [Evidence::Symbols, Evidence::Converted, Evidence::Partly];

/// The examined builds of each target.
struct Seen<'a> {
    layouts: &'a Layouts,
    registry: &'a Registry,
    /// The builds, with their strongest evidence.
    kernels: PerTarget<BTreeMap<Build, Evidence>>,
    /// The sets of facts.
    facts_files: PerTarget<BTreeSet<usize>>,
    /// The number of builds without a target.
    elsewhere: usize,
}

impl<'a> Seen<'a> {
    fn of(layouts: &'a Layouts, registry: &'a Registry) -> Self {
        let axis = &layouts.spec.axis;
        let (mut kernels, mut facts_files) = (
            axis.targets.ids().map(|_| BTreeMap::new()).collect::<PerTarget<_>>(),
            axis.targets.ids().map(|_| BTreeSet::new()).collect::<PerTarget<_>>(),
        );
        let mut elsewhere = BTreeSet::new();
        for kernel in &registry.builds {
            let Some(target) = axis.at(kernel.build, kernel.arch) else {
                elsewhere.insert((kernel.build, kernel.arch));
                continue;
            };
            facts_files[target].insert(kernel.facts_file);
            let read = registry.facts_files[kernel.facts_file].kind.evidence(true);
            let best = kernels[target].entry(axis.canonical(kernel.build)).or_insert(Evidence::Lacks);
            *best = (*best).max(read.unwrap_or(Evidence::Lacks));
        }
        Self { layouts, registry, kernels, facts_files, elsewhere: elsewhere.len() }
    }

    /// The number of builds of a target with this strongest evidence.
    fn count(&self, target: TargetId, kind: Evidence) -> String {
        match self.kernels[target].values().filter(|best| **best == kind).count() {
            0 => "–".into(),
            count => count.to_string(),
        }
    }

    /// The number of such builds at the given targets, with the first and last update.
    fn range(&self, targets: &[TargetId], kind: Evidence) -> String {
        let kernels = targets.iter().flat_map(|&target| &self.kernels[target]);
        let kernels: BTreeSet<_> = kernels.filter(|(_, best)| **best == kind).map(|(build, _)| *build).collect();
        match (kernels.first(), kernels.last()) {
            (Some(first), Some(last)) if first == last => format!("1: {first:#}"),
            (Some(first), Some(last)) if first.number == last.number => {
                format!("{}: {first:#} to {}", kernels.len(), last.revision)
            }
            (Some(first), Some(last)) => format!("{}: {first:#} to {last:#}", kernels.len()),
            _ => "–".into(),
        }
    }

    /// The number of structures at these targets by evidence: verified by PDBs, by converted symbols, partly by images, not in
    /// public symbols, and not examined.
    fn counts(&self, names: &[&str], targets: &[TargetId]) -> [usize; 5] {
        let mut counts = [0; 5];
        for name in names {
            let mut of_layout: BTreeMap<usize, Option<Evidence>> = BTreeMap::new();
            for &target in targets {
                if let Some(&id) = self.layouts.by_target[target].get(*name) {
                    let best = of_layout.entry(id).or_default();
                    *best = (*best).max(self.best(name, target));
                }
            }
            let Some(least) = of_layout.into_values().min() else { continue };
            let place = match least {
                Some(Evidence::Symbols) => 0,
                Some(Evidence::Converted) => 1,
                Some(Evidence::Partly) => 2,
                Some(Evidence::Lacks) => 3,
                None => 4,
            };
            counts[place] += 1;
        }
        counts
    }

    /// The strongest evidence for a structure from the builds of a target.
    fn best(&self, name: &str, target: TargetId) -> Option<Evidence> {
        let facts_files = self.facts_files[target].iter().map(|&facts_file| &self.registry.facts_files[facts_file]);
        let said = facts_files.filter_map(|facts_file| facts_file.kind.evidence(facts_file.holds.contains(name))).max();
        said.max(self.layouts.unverifiable(name, target).map(|_| Evidence::Lacks))
    }
}

/// The types that differ or exist on one side only: their names, or their number if there are many.
fn changed(layouts: &Layouts, names: &[&str], before: TargetId, after: TargetId) -> String {
    let [before, after] = [before, after].map(|target| &layouts.by_target[target]);
    let changed: Vec<_> = names.iter().copied().filter(|name| before.get(*name) != after.get(*name)).collect();
    match changed.len() {
        0 => "none".into(),
        1..=10 => changed.join(", "),
        count => format!("{count} structures"),
    }
}

/// The structures, with the number of targets verified by symbol data.
fn structures(layouts: &Layouts, registry: &Registry) -> String {
    let axis = &layouts.spec.axis;
    let by_symbols = confirmed(registry, axis);
    let mut out = String::from(
        "\n## Structures\n\nTargets are the rows of the tables above. A target is verified if symbols or converted symbols of one\n\
         of its builds contain the structure.\n\n\
         | structure | versions | layouts | sizes | verified targets |\n|---|---|---|---|---|\n",
    );
    for name in layouts.spec.definitions.keys() {
        let own: Vec<_> = layouts.layouts.iter().filter(|layout| layout.name == *name).collect();
        let (mut all, mut sizes) = (TargetSet::default(), BTreeSet::new());
        for layout in &own {
            let Form::Aggregate(aggregate) = &layout.form else { continue };
            all = all.union(&layout.targets);
            sizes.insert(aggregate.extent.size);
        }
        let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else { continue };
        let sizes = if least == most { format!("{least:#x}") } else { format!("{least:#x} to {most:#x}") };
        let why: Vec<_> = all.iter().filter_map(|target| by_symbols.why_not(layouts, name, target)).collect();
        let count = all.iter().count();
        let none = why.first().filter(|_| why.len() == count).map_or_else(String::new, |why| format!(": {}", why.text()));
        let confirmed = format!("{} of {count}{none}", count - why.len());
        let _ = writeln!(out, "| {name} | {} | {} | {sizes} | {confirmed} |", axis.describe(&all), own.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use etw_layouts_symbols::Rules;

    /// Compares the page with the tables. For a release, the structures counted as verified are at most those in the symbols of
    /// its builds. Verified and converted structures together are at most those in all of its tables. Each structure is counted
    /// once.
    #[test]
    fn counts_do_not_exceed_the_tables() {
        let project = crate::workspace::project();
        let layouts = project.layouts().expect("the specs resolve");
        let axis = &layouts.spec.axis;
        let registry = project.registry(axis).expect("the facts can be read");
        let names = verify::names(&layouts, None).expect("all names");
        let tables = project.tables(axis, &names.iter().copied().collect()).expect("shipped tables");
        let seen = Seen::of(&layouts, &registry);
        let mut most = 0;
        for (version, arch) in (0..axis.releases.len()).flat_map(|version| Arch::ALL.map(|arch| (version, arch))) {
            let targets: Vec<_> =
                axis.filter(|target| target.arch == arch && axis.revisions[target.revision].release == version).iter().collect();
            let own = tables.iter().filter(|table| axis.at(table.build, table.arch).is_some_and(|at| targets.contains(&at)));
            let (faithful, any): (Vec<_>, Vec<_>) =
                own.partition(|table| Rules::for_producer(&table.producer) == Rules::Faithful);
            let held = |tables: &[&etw_layouts_project::tables::BuildTable]| {
                tables.iter().flat_map(|table| table.types.keys()).cloned().collect::<BTreeSet<_>>()
            };
            let (faithful, any) = (held(&faithful), held(&any));
            let [verified, converted, partly, not_in_symbols, not_seen] = seen.counts(&names, &targets);
            let label = axis.releases[version].label();
            assert!(verified <= faithful.len(), "{label}-{arch}: {verified} verified");
            assert!(
                verified + converted <= faithful.union(&any).count(),
                "{label}-{arch}: {verified} verified, {converted} converted"
            );
            let present = |name: &&&str| targets.iter().any(|&target| layouts.get(target, name).is_some());
            assert_eq!(verified + converted + partly + not_in_symbols + not_seen, names.iter().filter(present).count());
            most = most.max(verified);
        }
        assert!(most > 40, "some release is verified");
    }
}
