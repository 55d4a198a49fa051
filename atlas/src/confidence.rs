//! The confidence in each structure at each revision of each build, as sentences that the script shows.

use crate::branches::Branch;
use crate::facts::Atlas;
use crate::index_in;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::LayoutId;
use etw_layouts_project::Choice;
use etw_layouts_project::Error;
use etw_layouts_project::diff::is_known;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The columns, and for each type the column of each branch, or -1.
pub struct Confidences {
    of: BTreeMap<String, Vec<i32>>,
    data: Data,
}

#[derive(Default, Serialize)]
struct Data {
    sentences: Vec<Standing>,
    /// For each revision of a branch, the number of a sentence, or -1.
    columns: Vec<Vec<i32>>,
}

/// The confidence as a sentence; whether the layout of the row is that of the build; the targets of the other layouts that it can be; and the
/// target whose layout is selected, if it is not that of the row.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
struct Standing(String, bool, Vec<usize>, Option<usize>);

impl Confidences {
    /// The confidence in all structures and, with `values`, in enumerations, flags and constants.
    pub fn of(atlas: &Atlas, values: bool) -> Self {
        let structures = atlas.structures.iter().map(|structure| structure.name());
        let values = atlas.values.iter().filter(|_| values).map(|definition| definition.name.value.as_str());
        let names: Vec<&str> = structures.chain(values).collect();
        let kinds = kinds(atlas, &names);
        let branches: Vec<Columns> = atlas.branches.par_iter().map(|branch| columns(atlas, branch, &names, &kinds)).collect();
        let (mut data, mut sentences, mut known) = (Data::default(), HashMap::new(), HashMap::new());
        let mut of: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        for Columns { distinct, of_names } in branches {
            let numbers: Vec<i32> = distinct
                .into_iter()
                .map(|column| {
                    let column = column.into_iter().map(|standing| match standing {
                        None => -1,
                        Some(standing) => place(&mut sentences, &mut data.sentences, standing),
                    });
                    place(&mut known, &mut data.columns, column.collect())
                })
                .collect();
            for (name, column) in names.iter().zip(of_names) {
                let number = column.and_then(|column| numbers.get(column)).copied();
                of.entry((*name).to_owned()).or_default().push(number.unwrap_or(-1));
            }
        }
        Self { of, data }
    }

    /// The columns of all types, by name.
    pub fn columns(&self) -> &BTreeMap<String, Vec<i32>> {
        &self.of
    }

    /// The types whose layout at a target is inferred or uncertain, each with the targets of the other layouts that it can be.
    pub fn unexamined(&self, atlas: &Atlas, target: TargetId) -> BTreeMap<&str, &[usize]> {
        let (build, arch) = (atlas.axis.revision_of(target).build, atlas.axis.targets[target].arch);
        let is_it = |branch: &Branch| (branch.number, branch.arch) == (build.number, arch);
        let Some(branch) = atlas.branches.iter().position(is_it) else { return BTreeMap::new() };
        let is_own = |asked: &Asked| asked.own.revision == build.revision;
        let Some(point) = atlas.branches[branch].points.iter().position(is_own) else { return BTreeMap::new() };
        let standing = |columns: &Vec<i32>| {
            let column = self.data.columns.get(usize::try_from(*columns.get(branch)?).ok()?)?;
            self.data.sentences.get(usize::try_from(*column.get(point)?).ok()?)
        };
        let unknown =
            |(name, columns)| standing(columns).filter(|standing| !standing.1).map(|Standing(_, _, others, _)| (name, others));
        self.of.iter().filter_map(unknown).map(|(name, others): (&String, _)| (name.as_str(), others.as_slice())).collect()
    }

    /// The columns of a structure.
    pub fn of_structure(&self, name: &str) -> &[i32] {
        self.of.get(name).map_or(&[], Vec::as_slice)
    }

    /// The data of the script.
    pub fn data(&self) -> Result<String, Error> {
        Ok(format!("window.atlasConfidence = {};\n", serde_json::to_string(&self.data)?))
    }
}

/// The index of a value in a list. A new value is added to the list.
fn place<T: Clone + Eq + Hash>(known: &mut HashMap<T, i32>, list: &mut Vec<T>, value: T) -> i32 {
    *known.entry(value).or_insert_with_key(|value| {
        list.push(value.clone());
        i32::try_from(list.len() - 1).unwrap_or(-1)
    })
}

/// The sentences of a branch.
struct Columns {
    /// The confidence at each point; none where a type does not exist.
    distinct: Vec<Vec<Option<Standing>>>,
    /// For each type, an index into `distinct`; none if the type exists at no point.
    of_names: Vec<Option<usize>>,
}

/// The sentences for all types. Types share a column if their layouts change at the same builds and the same examined builds contain
/// them.
fn columns(atlas: &Atlas, branch: &Branch, names: &[&str], kinds: &[usize]) -> Columns {
    let (mut known, mut distinct) = (HashMap::new(), Vec::new());
    let one = |(name, kind): (&str, &usize)| {
        let layout = |target: TargetId| atlas.layouts.by_target[target].get(name).copied();
        if branch.points.iter().all(|asked| layout(asked.target).is_none()) {
            return None;
        }
        Some(*known.entry(*kind).or_insert_with(|| {
            let choices = Choice::along(atlas.layouts, atlas.registry, &branch.points, name).into_iter();
            let standing = |choice: Choice| {
                layout(choice.target())?;
                let row = layout(choice.asked.target);
                let others =
                    choice.candidates.iter().filter(|target| layout(**target) != row).copied().map(usize::from).collect();
                let other = Some(choice.target()).filter(|target| layout(*target) != row).map(usize::from);
                Some(Standing(choice.sentence(atlas.axis), is_known(atlas.axis, &choice) && other.is_none(), others, other))
            };
            distinct.push(choices.map(standing).collect());
            distinct.len() - 1
        }))
    };
    let of_names = names.iter().copied().zip(kinds).map(one).collect();
    Columns { distinct, of_names }
}

/// A number for each type, the same for types whose layouts change at the same targets and that the same facts contain.
fn kinds(atlas: &Atlas, names: &[&str]) -> Vec<usize> {
    let mut known = HashMap::new();
    let kind = |name: &&str| {
        // Layouts are numbered in the order in which they appear.
        let mut order: Vec<LayoutId> = Vec::new();
        let mut number = |layout| index_in(&mut order, layout);
        let layouts = atlas.axis.targets.ids().map(|target| atlas.layouts.by_target[target].get(*name).copied());
        let pattern: Vec<Option<usize>> = layouts.map(|layout| layout.map(&mut number)).collect();
        let next = known.len();
        *known.entry((pattern, holds(atlas, name))).or_insert(next)
    };
    names.iter().map(kind).collect()
}

/// The indexes of the facts_files that contain a structure.
fn holds(atlas: &Atlas, name: &str) -> Vec<usize> {
    let facts_files = atlas.registry.facts_files.iter().enumerate();
    facts_files.filter(|(_, facts_file)| facts_file.holds.contains(name)).map(|(index, _)| index).collect()
}
