//! Tables that are labelled with the wrong build.
//!
//! A symbol table does not contain its build. The label states it: the file name, `builds.tsv` or `--build`. A wrong label can be found
//! only by the layouts, and only if other symbols verify the layouts of the labelled build: symbols of the same build, or of updates
//! before and after it that agree. The label is wrong if the table contradicts them and equals the layouts of another build in
//! all types. A table that equals no known layouts only differs. Labels of builds that have not been examined are not checked: such a
//! build can have the layouts of its neighbor.
//!
//! A PDB belongs to one build. If the facts have the PDB of a table under another build, the label is wrong.

use super::found::{Checked, Comparison, Outcome};
use super::ours;
use super::wholly::{against, compared, names};
use crate::Choice;
use crate::tables::BuildTable;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Axis, TargetId};
use etw_layouts_codegen::layouts::{LayoutId, Layouts};
use etw_layouts_codegen::registry::{Registry, Seen, Witness, WitnessKind};
use etw_layouts_symbols::{Pdb, Rules, TypeFacts, Types, compare};
use std::collections::BTreeMap;

/// The targets with the layouts of a table whose label is wrong; empty if the label may be right. `seen` are the builds whose
/// symbols were read. `own` is the file among them that contains the table itself, which is no evidence for its label.
pub fn facts_of(layouts: &Layouts, seen: &Registry, own: Option<&str>, table: &BuildTable, checked: &Checked) -> Vec<TargetId> {
    let others = others(layouts, table, checked);
    if others.is_empty() || is_known(layouts, seen, own, &checked.asked) { others } else { Vec::new() }
}

/// The build that the facts state for the PDB of a table, if the label of the table names another build.
pub fn pdb_of(axis: &Axis, seen: &Registry, table: &Checked) -> Option<String> {
    let Pdb { guid, .. } = table.pdb.as_ref()?;
    let label = (table.asked.build, axis.targets[table.asked.target].arch);
    // A linker creates a GUID only once. The age counts later changes of the file.
    let is_it = |seen: &&Seen| seen.pdb.as_ref().is_some_and(|pdb| pdb.guid == *guid);
    let is_other = |seen: &&Seen| (axis.canonical(seen.build), seen.arch) != label;
    let other = seen.kernels.iter().filter(is_it).find(is_other)?;
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
    let mut others: Vec<_> = facts_of.iter().take(NAMED).map(|&target| axis.target_name(target)).collect();
    if facts_of.len() > NAMED {
        others.push(format!("{} more", facts_of.len() - NAMED));
    }
    format!("{source}: stated build {build}-{arch}, but has the layouts of {}", others.join(" or "))
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

/// The earliest other build with the same facts as a table: the label of the table may be a mistake. `None` if the previous build
/// does not contradict the table. Needed for builds without other symbols, which a wrong label cannot contradict.
pub fn facts_equal<'a>(table: &BuildTable, known: impl Iterator<Item = &'a BuildTable> + Clone) -> Option<&'a BuildTable> {
    let others = known.filter(|other| other.arch == table.arch && other.build != table.build);
    let before = others.clone().map(|other| other.build).filter(|build| *build < table.build).max();
    let mut before = others.clone().filter(|other| Some(other.build) == before);
    if before.any(|other| !contradict((other, &other.types), (table, &table.types))) {
        return None;
    }
    others.filter(|other| other.types == table.types).min_by_key(|other| other.build)
}

/// Whether two tables contradict each other in some of their types. Facts that the form of either table loses are not compared.
pub fn contradict((one, types): (&BuildTable, &Types), (other, others): (&BuildTable, &Types)) -> bool {
    let reports = match (one.is_converted(), other.is_converted()) {
        (false, false) => compare(types, others, Rules::Faithful),
        (false, true) => compare(types, others, Rules::Converted),
        (true, false) => compare(others, types, Rules::Converted),
        (true, true) if one.producer == other.producer => compare(types, others, Rules::Faithful),
        (true, true) => return false,
    };
    reports.iter().any(|report| !report.differences.is_empty())
}

fn is_wrong(compared: &Comparison) -> bool {
    !compared.differences.is_empty() || compared.outcome == Outcome::Unspecified
}

/// Whether symbols verify the layouts of a build without a table of it. Images do not count: they show too few layouts.
fn is_known(layouts: &Layouts, seen: &Registry, own: Option<&str>, asked: &Asked) -> bool {
    let mut others = seen.clone();
    let counts = |witness: &Witness| witness.kind != WitnessKind::Images && own != Some(witness.name.as_str());
    others.kernels.retain(|kernel| seen.witnesses.get(kernel.witness).is_some_and(counts));
    Choice::of(layouts, &others, asked.clone(), None).confidence.is_sure()
}

/// The other targets with the layouts of a table: those of its architecture, or else any.
fn others(layouts: &Layouts, table: &BuildTable, checked: &Checked) -> Vec<TargetId> {
    let targets = &layouts.spec.axis.targets;
    let (same, different): (Vec<_>, Vec<_>) = targets.ids().partition(|&target| targets[target].arch == table.arch);
    // The structures that differ from the labelled build distinguish most other targets. Comparing only these, once per layout,
    // costs a fraction of a whole comparison.
    let differ = checked.structures.iter().filter(|(_, found)| is_wrong(found)).map(|(name, _)| name.as_str());
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
