//! Tables that are labelled with the wrong build.
//!
//! A symbol table does not contain its build. The label states it: the file name, `builds.tsv` or `--build`. A wrong label can be found
//! only by the layouts, and only if other symbols verify the layouts of the labelled build: symbols of the same build, or of updates
//! before and after it that agree. The label is wrong if the table contradicts them and equals the layouts of another build in
//! all types. A table that equals no known layouts only differs. A build that has not been examined can have the layouts of its neighbor; any
//! other equality is a [`Doubt`], which the user can dispel.
//!
//! A PDB belongs to one build. If the facts have the PDB of a table under another build, the label is wrong.

use super::found::{Checked, Comparison, Outcome};
use super::ours;
use super::wholly::{against, compared, names};
use crate::Choice;
use crate::tables::BuildTable;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Axis, Build, TargetId};
use etw_layouts_codegen::layouts::{LayoutId, Layouts};
use etw_layouts_codegen::registry::{ExaminedBuild, FactsFile, FactsKind, Registry};
use etw_layouts_runtime::meta::{Absent, place};
use etw_layouts_symbols::compare::Difference;
use etw_layouts_symbols::{Pdb, Rules, TypeFacts, Types, compare};
use std::collections::BTreeMap;

/// The targets with the layouts of a table whose label is wrong; empty if the label may be right. `seen` are the builds whose
/// symbols were read. `own` is the file among them that contains the table itself, which is no evidence for its label.
pub fn facts_of(layouts: &Layouts, seen: &Registry, own: Option<&str>, table: &BuildTable, checked: &Checked) -> Vec<TargetId> {
    let others = others(layouts, table, &checked.structures);
    let is_wrong = !others.is_empty() && known(layouts, seen, own, &checked.asked).is_some_and(|known| !others.contains(&known));
    if is_wrong { others } else { Vec::new() }
}

/// The build that the facts state for the PDB of a table, if the label of the table names another build.
pub fn pdb_of(axis: &Axis, seen: &Registry, table: &Checked) -> Option<String> {
    let Pdb { guid, .. } = table.pdb.as_ref()?;
    let label = (table.asked.build, axis.targets[table.asked.target].arch);
    // A linker creates a GUID only once. The age counts later changes of the file.
    let is_it = |seen: &&ExaminedBuild| seen.pdb.as_ref().is_some_and(|pdb| pdb.guid == *guid);
    let is_other = |seen: &&ExaminedBuild| (axis.canonical(seen.build), seen.arch) != label;
    let other = seen.builds.iter().filter(is_it).find(is_other)?;
    Some(format!("{}-{}", other.build, other.arch))
}

/// Maximum number of targets in a message: a table with few types can have the layouts of many.
const NAMED: usize = 4;

/// The message for a wrong label: it names the build that has the layouts or the PDB.
pub fn sentence(axis: &Axis, checked: &Checked) -> String {
    let Checked { source, build, arch, facts_of, pdb_of, .. } = checked;
    if let Some(kernel) = pdb_of {
        return format!("{source}: stated build {build}-{arch}, but its PDB belongs to {kernel} in the facts");
    }
    format!("{source}: stated build {build}-{arch}, but has the layouts of {}", named(axis, facts_of))
}

fn named(axis: &Axis, targets: &[TargetId]) -> String {
    let mut names: Vec<_> = targets.iter().take(NAMED).map(|&target| axis.target_name(target)).collect();
    if targets.len() > NAMED {
        names.push(format!("{} more", targets.len() - NAMED));
    }
    names.join(" or ")
}

/// The error for a table with a wrong label, which must not be written: its import would add a build that does not exist. `pdbs`
/// are the builds with known PDBs.
pub fn refusal(layouts: &Layouts, names: &[&str], seen: &Registry, pdbs: &Registry, table: &BuildTable) -> Option<String> {
    let checked = compared(layouts, names, table).ok()?;
    let pdb_of = pdb_of(&layouts.spec.axis, pdbs, &checked);
    let facts_of = match checked.differs() && pdb_of.is_none() {
        true => facts_of(layouts, seen, None, table, &checked),
        false => Vec::new(),
    };
    let checked = Checked { build: table.label.clone(), facts_of, pdb_of, ..checked };
    let help = "nothing was written; correct the build, in builds.tsv or in the file name, or leave the file out";
    checked.is_labelled_wrongly().then(|| format!("{}; {help}", sentence(&layouts.spec.axis, &checked)))
}

/// Whether a table agrees with the layouts of a target in all of its types. False if it has none of the types.
pub fn agrees(layouts: &Layouts, target: TargetId, table: &BuildTable) -> bool {
    let Ok(names) = names(layouts, None) else { return false };
    let compared = against(layouts, &names, table, target);
    compared.values().any(|compared| compared.equal > 0) && !compared.values().any(is_wrong)
}

/// A reason to doubt the build of a table that no symbols of the build contradict. Each names the build with the facts of the table.
pub enum Doubt {
    /// The version axis does not have the build number.
    Unknown(String),
    /// The stated build has other layouts.
    Other(String),
    /// The architecture ended with this earlier build.
    Ended(Build),
    /// The next revision on the version axis has the same facts, so the table would date them earlier.
    Earlier(String),
}

impl Doubt {
    /// The doubt about the build of a table, if there is one. `known` are the tables of examined builds.
    pub fn of(layouts: &Layouts, table: &BuildTable, known: &[BuildTable]) -> Option<Self> {
        let axis = &layouts.spec.axis;
        let is_named = |build: Build| build.number == table.build.number;
        let equal = known.iter().filter(|other| other.arch == table.arch && other.build != table.build);
        let equal = equal.filter(|other| other.types == table.types).min_by_key(|other| other.build);
        let equal = equal.map(|other| format!("{:#}-{}", other.build, other.arch));
        let of_any = || {
            let names = names(layouts, None).ok()?;
            let structures = compared(layouts, &names, table).map(|checked| checked.structures).unwrap_or_default();
            let others = others(layouts, table, &structures);
            (!others.is_empty()).then(|| named(axis, &others))
        };
        if !axis.revisions.iter().any(|kernel| is_named(kernel.build))
            && !axis.unimported.iter().any(|release| is_named(release.build))
        {
            return equal.or_else(of_any).map(Self::Unknown);
        }
        let newest = axis.revisions.last().map(|kernel| kernel.build);
        if let Err(Absent::Newer { last }) = place(table.build, axis.along(table.arch), newest) {
            return Some(Self::Ended(last));
        }
        let line = axis.line(table.build, table.arch);
        let own = axis.at(table.build, table.arch);
        match line.iter().copied().find(|&target| axis.revision_of(target).build > table.build) {
            _ if line.is_empty() || own.is_some_and(|own| agrees(layouts, own, table)) => None,
            Some(next) if agrees(layouts, next, table) => equal.map(Self::Earlier),
            _ => equal.or_else(of_any).map(Self::Other),
        }
    }

    /// The doubt about a table as a sentence.
    pub fn sentence(&self, table: &BuildTable) -> String {
        let stated = format!("{}-{}", table.label, table.arch);
        match self {
            Self::Unknown(equal) => format!("unknown build {stated}, and the facts equal those of {equal}"),
            Self::Other(equal) => format!("stated build {stated}, but the facts equal those of {equal}"),
            Self::Ended(last) => {
                format!("stated build {stated}, but the newest known build of {} is {last:#}, with its updates", table.arch)
            }
            Self::Earlier(equal) => format!("the facts of {stated} equal those of {equal}"),
        }
    }
}

/// Whether two tables contradict each other in some of their types. Facts that the form of either table loses are not compared.
pub fn contradict(one: (&BuildTable, &Types), other: (&BuildTable, &Types)) -> bool {
    contradiction(one, other).is_some()
}

/// The first fact that two tables state differently, with both values.
pub fn contradiction((one, types): (&BuildTable, &Types), (other, others): (&BuildTable, &Types)) -> Option<String> {
    let is_reversed = one.is_converted() && !other.is_converted();
    let reports = match (one.is_converted(), other.is_converted()) {
        (false, false) => compare(types, others, Rules::Faithful),
        (false, true) => compare(types, others, Rules::Converted),
        (true, false) => compare(others, types, Rules::Converted),
        (true, true) if one.producer == other.producer => compare(types, others, Rules::Faithful),
        (true, true) => return None,
    };
    let report = reports.iter().find(|report| !report.differences.is_empty())?;
    let Difference { member, kind, spec, symbols } = report.differences.first()?;
    let [first, second] = if is_reversed { [symbols, spec] } else { [spec, symbols] };
    let dot = if member.is_empty() { "" } else { "." };
    Some(format!("{}{dot}{member} {}: {first} and {second}", report.name, kind.as_str()))
}

fn is_wrong(compared: &Comparison) -> bool {
    !compared.differences.is_empty() || compared.outcome == Outcome::Unspecified
}

/// The target whose layouts a build has according to symbols, without a table of it. Images do not count: they show too few layouts.
fn known(layouts: &Layouts, seen: &Registry, own: Option<&str>, asked: &Asked) -> Option<TargetId> {
    let mut others = seen.clone();
    let counts = |facts_file: &FactsFile| facts_file.kind != FactsKind::Images && own != Some(facts_file.name.as_str());
    others.builds.retain(|build| seen.facts_files.get(build.facts_file).is_some_and(counts));
    let choice = Choice::of(layouts, &others, asked.clone(), None);
    choice.confidence.is_sure().then(|| choice.target())
}

/// The other targets with the layouts of a table: those of its architecture, or else any.
fn others(layouts: &Layouts, table: &BuildTable, structures: &BTreeMap<String, Comparison>) -> Vec<TargetId> {
    let targets = &layouts.spec.axis.targets;
    let (same, different): (Vec<_>, Vec<_>) = targets.ids().partition(|&target| targets[target].arch == table.arch);
    // The structures that differ from the labelled build distinguish most other targets. Comparing only these, once per layout,
    // costs a fraction of a whole comparison.
    let differ = structures.iter().filter(|(_, found)| is_wrong(found)).map(|(name, _)| name.as_str());
    let differ: Vec<&str> = differ.collect();
    let mut known: BTreeMap<LayoutId, bool> = BTreeMap::new();
    let mut may_have = |target: TargetId| {
        differ.iter().all(|&name| match layouts.by_target[target].get(name) {
            Some(&id) => *known.entry(id).or_insert_with(|| has_layout(layouts, target, name, table)),
            None => false,
        })
    };
    let mut has = |list: Vec<TargetId>| -> Vec<_> {
        list.into_iter().filter(|&target| may_have(target) && agrees(layouts, target, table)).collect()
    };
    let found = has(same);
    if found.is_empty() { has(different) } else { found }
}

/// Whether a table has the layout of a structure at a target, or lacks the structure. Most differing layouts have another size, which needs no
/// full comparison.
fn has_layout(layouts: &Layouts, target: TargetId, name: &str, table: &BuildTable) -> bool {
    let size = layouts.get(target, name).map(|layout| layout.extent().size);
    if let Some(TypeFacts::Aggregate(aggregate)) = table.types.get(name)
        && size != Some(aggregate.size)
    {
        return false;
    }
    let reports = compare(&ours::types(layouts, target, &[name]), &table.types, Rules::for_producer(&table.producer));
    reports.iter().all(|report| report.differences.is_empty())
}
