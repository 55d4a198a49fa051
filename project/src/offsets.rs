//! Offsets of members and addresses of global variables in all examined builds.

use crate::Choice;
use crate::error::{Error, Refusal, Remedy};
use crate::evidence::{Address, address};
use crate::members::{expanded, has};
use crate::names::{Among, all, declared_as, name, no_member};
use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetId};
use etw_layouts_codegen::layouts::{Bits, Layouts};
use etw_layouts_codegen::registry::{ExaminedBuild, FactsFile, Registry};
use etw_layouts_codegen::{Asked, SelectedBy};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A table of offsets with one row per examined build. The rows are computed one build number after the other.
pub struct OffsetTable<'a> {
    /// The selected members and structures.
    pub columns: Vec<Column>,
    /// Their structures, each once.
    pub structures: Vec<String>,
    /// The selected global variables.
    pub variables: Vec<String>,
    /// The examined builds of each row, by build, then by architecture.
    pub builds: Vec<&'a ExaminedBuild>,
    /// The number of examined builds without a row: no build of the version axis has their layouts.
    pub without_row: usize,
    layouts: &'a Layouts,
    registry: &'a Registry,
}

/// A selected member or structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The index of the structure.
    pub structure: usize,
    /// The member, after the names of the enclosing members, as in `u.LowPart`; `None` for the size of the structure.
    pub member: Option<String>,
}

/// An examined build.
pub struct Row<'a> {
    /// Its build and architecture, and the identity of its files.
    pub seen: &'a ExaminedBuild,
    /// For each structure, the confidence in its layout.
    pub choices: Vec<Arc<Choice>>,
    /// For each column, its value.
    pub cells: Vec<Option<Cell>>,
    /// For each variable, what is known of it.
    pub variables: Vec<Variable>,
}

/// A global variable in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Its address is known.
    At(Address),
    /// The build has it, but no symbol file or table of images of this build states its address.
    Unknown,
    /// The build does not have it.
    Absent,
}

/// The value of a column in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The offset of the member in bytes, or the size of the structure.
    pub value: u64,
    /// The bits of a bit field within its unit.
    pub bits: Option<Bits>,
    /// Whether an image of this build shows the offset.
    pub in_image: bool,
}

/// The table of selected items, written as `STRUCTURE.MEMBER`, `STRUCTURE`, or the name of a global variable. With `build`, only the
/// examined builds of this range, label, build or revision.
///
/// # Errors
///
/// A structure, member or variable does not exist in any build, or no examined build is selected.
pub fn of<'a>(
    layouts: &'a Layouts,
    registry: &'a Registry,
    asked: &[String],
    build: Option<&str>,
) -> Result<OffsetTable<'a>, Error> {
    let axis = &layouts.spec.axis;
    // Accept variables as debuggers write them.
    let asked = asked.iter().map(|asked| match asked.strip_prefix("nt!") {
        Some(name) if layouts.spec.globals.contains_key(name) => name.to_owned(),
        _ => asked.clone(),
    });
    let (variables, asked): (Vec<_>, Vec<_>) = asked.partition(|asked| layouts.spec.globals.contains_key(asked));
    let (mut columns, mut structures): (Vec<_>, Vec<String>) = Default::default();
    let mut places = Places::default();
    for asked in &asked {
        let (structure, member) = column(layouts, asked, &mut places)?;
        let index = structures.iter().position(|known| *known == structure).unwrap_or_else(|| {
            structures.push(structure);
            structures.len() - 1
        });
        columns.push(Column { structure: index, member });
    }
    let all = distinct(registry);
    let is_wanted = build.map(|build| selected(axis, build)).transpose()?;
    let wanted: Vec<&ExaminedBuild> =
        all.into_iter().filter(|seen| is_wanted.as_ref().is_none_or(|is_wanted| is_wanted(seen))).collect();
    let found = wanted.len();
    let builds: Vec<&ExaminedBuild> = wanted.into_iter().filter(|seen| axis.select(seen.build, seen.arch).is_ok()).collect();
    if let Some(build) = build.filter(|_| builds.is_empty()) {
        let help = "`etw list --targets` prints the examined builds; `etw show STRUCTURE --build` infers a layout";
        return Err(format!("no examined build matches `{build}`; {help}").into());
    }
    let without_row = found - builds.len();
    Ok(OffsetTable { columns, structures, variables, builds, without_row, layouts, registry })
}

/// Whether a name selects an examined build.
type Selected<'a> = Box<dyn Fn(&ExaminedBuild) -> bool + 'a>;

/// The examined builds that a name selects: a range, a label, a build with all its revisions, or one revision.
fn selected<'a>(axis: &'a Axis, name: &str) -> Result<Selected<'a>, Error> {
    let found = Arch::ALL.map(|arch| axis.find_build(name, arch));
    let found: Result<Asked, String> = found.into_iter().reduce(Result::or).ok_or("no architecture is known")?;
    if let Ok(Asked { build, selected_by: SelectedBy::Revision, .. }) = found {
        return Ok(Box::new(move |seen| axis.canonical(seen.build) == build));
    }
    match (axis.scope(name), found) {
        // In specs, an ambiguous label denotes one of the releases.
        (_, Err(error)) if error.starts_with("ambiguous") => Err(error.into()),
        (Ok(targets), _) => {
            Ok(Box::new(move |seen| axis.at(seen.build, seen.arch).is_some_and(|target| targets.contains(target))))
        }
        (Err(_), Ok(Asked { build, .. })) => Ok(Box::new(move |seen| axis.canonical(seen.build).number == build.number)),
        (Err(_), Err(error)) => Err(error.into()),
    }
}

impl<'a> OffsetTable<'a> {
    /// The structure of a column.
    pub fn structure(&self, column: &Column) -> &str {
        &self.structures[column.structure]
    }

    /// The rows. All rows of a build number are computed together, because they share the evidence.
    pub fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        let kinds = self.kinds();
        let images = self.images();
        let mut cells: HashMap<(TargetId, usize), Option<Cell>> = HashMap::new();
        let mut places = Places::default();
        self.builds.chunk_by(|one, other| one.build.number == other.build.number).flat_map(move |builds| {
            let choices = self.choices(builds, &kinds);
            let axis = &self.layouts.spec.axis;
            let row = |&seen: &&'a ExaminedBuild| {
                let choices = choices.get(&(seen.build, seen.arch))?.clone();
                let own = images.get(&(axis.canonical(seen.build), seen.arch));
                let shows = |column: &Column| {
                    let shown = own.into_iter().flatten().filter_map(|facts_file| facts_file.shows.get(self.structure(column)));
                    column.member.as_ref().is_some_and(|member| shown.into_iter().any(|members| members.contains(member)))
                };
                let cell = |(index, column): (usize, &Column)| {
                    // The layout that the confidence describes can be that of another row.
                    let target = choices[column.structure].target();
                    let find = || places.find(self.layouts, target, self.structure(column), column.member.as_deref());
                    let cell = *cells.entry((target, index)).or_insert_with(find);
                    cell.map(|cell| Cell { in_image: shows(column), ..cell })
                };
                let cells = self.columns.iter().enumerate().map(cell).collect();
                let has = |name: &String| {
                    axis.at(seen.build, seen.arch).is_some_and(|at| self.layouts.spec.globals[name].scope.contains(at))
                };
                let variable = |name: &String| match address(self.registry, axis, seen, name) {
                    Some(address) => Variable::At(address),
                    None if has(name) => Variable::Unknown,
                    None => Variable::Absent,
                };
                let variables = self.variables.iter().map(variable).collect();
                Some(Row { seen, choices, cells, variables })
            };
            builds.iter().filter_map(row).collect::<Vec<_>>()
        })
    }

    /// For each structure, the first one whose layouts change at the same targets, and that the same tables contain. Their confidence is
    /// the same in every build.
    fn kinds(&self) -> Vec<usize> {
        let mut known = HashMap::new();
        let kind = |(index, name): (usize, &String)| {
            let holds: Vec<bool> = self.registry.facts_files.iter().map(|facts_file| facts_file.holds.contains(name)).collect();
            let mut order = Vec::new();
            let mut number = |id: usize| {
                order.iter().position(|known| *known == id).unwrap_or_else(|| {
                    order.push(id);
                    order.len() - 1
                })
            };
            let all = self.layouts.by_target.values();
            let changes: Vec<Option<usize>> = all.map(|types| types.get(name).copied().map(&mut number)).collect();
            *known.entry((holds, changes)).or_insert(index)
        };
        self.structures.iter().enumerate().map(kind).collect()
    }

    /// The tables of images, by build and architecture.
    fn images(&self) -> HashMap<(Build, Arch), Vec<&'a FactsFile>> {
        let mut images: HashMap<_, Vec<&FactsFile>> = HashMap::new();
        for seen in &self.registry.builds {
            let facts_file = self.registry.facts_files.get(seen.facts_file).filter(|facts_file| !facts_file.shows.is_empty());
            if let Some(facts_file) = facts_file {
                images.entry((self.layouts.spec.axis.canonical(seen.build), seen.arch)).or_default().push(facts_file);
            }
        }
        images
    }

    /// For each of these builds of one number, the confidence in the layout of each structure.
    fn choices(&self, builds: &[&ExaminedBuild], kinds: &[usize]) -> BTreeMap<(Build, Arch), Vec<Arc<Choice>>> {
        let axis = &self.layouts.spec.axis;
        let own: BTreeSet<(Build, Arch)> = builds.iter().map(|seen| (seen.build, seen.arch)).collect();
        let mut all = BTreeMap::new();
        for arch in Arch::ALL {
            let own = own.iter().filter(|(_, other)| *other == arch).filter_map(|&at| Some((at, axis.select(at.0, arch).ok()?)));
            let (own, asked): (Vec<_>, Vec<Asked>) = own.unzip();
            let distinct: Vec<usize> = kinds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let along = |&kind: &usize| {
                let choices = Choice::along(self.layouts, self.registry, &asked, &self.structures[kind]);
                (kind, choices.into_iter().map(Arc::new).collect::<Vec<_>>())
            };
            let of_kinds: HashMap<usize, Vec<Arc<Choice>>> = distinct.par_iter().map(along).collect();
            for (index, at) in own.into_iter().enumerate() {
                all.insert(at, kinds.iter().map(|kind| of_kinds[kind][index].clone()).collect());
            }
        }
        all
    }
}

/// The structure and the member of a column.
fn column(layouts: &Layouts, asked: &str, places: &mut Places) -> Result<(String, Option<String>), Error> {
    let (structure, member) = asked.split_once('.').map_or((asked, None), |(structure, member)| (structure, Some(member)));
    let structure = name(layouts, Among::Symbols, structure).map_err(|error| {
        let is_unknown = error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.remedy == Remedy::Definition);
        if member.is_some() || !is_unknown {
            return error;
        }
        let variables = layouts.spec.globals.keys().map(String::as_str);
        let known = all(layouts, Among::Symbols).chain(variables);
        let problem = format!("unknown structure or global variable `{asked}`");
        Refusal::unknown(problem, asked, known, Remedy::DefinitionOrVariable).into()
    })?;
    let Some(member) = member else { return Ok((structure.to_owned(), None)) };
    let known = declared_as(layouts, structure, member).unwrap_or_else(|| member.to_owned());
    // The newest build has most members.
    let targets: Vec<TargetId> = has(layouts, structure).iter().collect();
    match targets.into_iter().rev().all(|target| places.find(layouts, target, structure, Some(&known)).is_none()) {
        true => Err(no_member(layouts, structure, member)),
        false => Ok((structure.to_owned(), Some(known))),
    }
}

/// The members of layouts, by layout, depth and path.
#[derive(Default)]
struct Places(HashMap<(TargetId, String, usize), HashMap<String, Cell>>);

impl Places {
    /// The place of a member, or the size of a structure.
    fn find(&mut self, layouts: &Layouts, target: TargetId, structure: &str, member: Option<&str>) -> Option<Cell> {
        let layout = layouts.get(target, structure)?;
        let Some(path) = member else {
            return Some(Cell { value: layout.extent().size, bits: None, in_image: false });
        };
        let levels = path.matches('.').count();
        let members = self.0.entry((target, structure.to_owned(), levels)).or_insert_with(|| {
            let all = expanded(layouts, structure, target, levels).into_iter().rev();
            // Of two members with the same path, the first represents both.
            all.filter_map(|member| Some((member.path?, Cell { value: member.offset, bits: member.bits, in_image: false })))
                .collect()
        });
        members.get(path).copied()
    }
}

/// The examined builds, each with its files once. An entry without a known file is left out if another entry of the build has one.
fn distinct(registry: &Registry) -> Vec<&ExaminedBuild> {
    let mut list: Vec<&ExaminedBuild> = Vec::new();
    let mut kernels: BTreeMap<_, Vec<&ExaminedBuild>> = BTreeMap::new();
    for seen in &registry.builds {
        kernels.entry((seen.build, seen.arch)).or_default().push(seen);
    }
    for own in kernels.into_values() {
        let is_known = |seen: &&ExaminedBuild| seen.pdb.is_some() || seen.image.is_some();
        let any = own.iter().any(is_known);
        let mut kept: Vec<&ExaminedBuild> = Vec::new();
        for seen in own.into_iter().filter(|seen| !any || is_known(seen)) {
            if kept.iter().all(|kept| (&kept.pdb, &kept.image) != (&seen.pdb, &seen.image)) {
                kept.push(seen);
            }
        }
        list.extend(kept);
    }
    list
}
