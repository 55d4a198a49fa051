//! One side of a comparison: a target's layouts, or a symbol file.

use crate::members::{c_type, members};
use crate::names::{Among, names};
use crate::tables::{self, Stated, SymbolFile};
use crate::verify::ours;
use crate::{Choice, Confidence, Error};
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Axis, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec::Body;
use etw_layouts_symbols::isf::Wanted;
use etw_layouts_symbols::{Enumeration, Rules, TypeFacts, Types};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The layouts of a target, or the contents of a symbol file, in the model of symbol files.
pub struct Side {
    /// The name of the target or file in the output.
    pub label: String,
    /// The target; `None` for a symbol file.
    pub choice: Option<Choice>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The structures that were not compared, because public symbol files do not contain them.
    pub not_compared: Vec<String>,
    /// The structures and enumerations whose layout on this side is inferred or uncertain: if it is equal to that of the other side, it is
    /// unknown whether they differ.
    pub unexamined: BTreeSet<String>,
    /// The same side with other layouts that uncertain structures can have; each has only these structures.
    pub alternatives: Vec<Side>,
    /// The types to compare.
    pub types: Types,
    /// Pointer size in bytes.
    pub pointer: u64,
    /// The comparison rules for the producer of the symbol file.
    pub rules: Rules,
    /// The types of members in the spelling of the specs, by structure and path, if both sides are targets.
    pub c_types: BTreeMap<String, BTreeMap<String, String>>,
}

/// Both sides of a comparison, each given as the name of a target or the path of a symbol file.
///
/// # Errors
///
/// A name is neither a target nor a symbol file, a symbol file cannot be read, or the structure to compare does not exist.
pub fn sides(layouts: &Layouts, registry: &Registry, asked: [&str; 2], only: Option<&str>) -> Result<[Side; 2], Error> {
    let [a, b] = asked.map(|asked| target(layouts, asked));
    let targets = [a?, b?];
    let among = if targets.iter().all(Option::is_some) { Among::All } else { Among::Symbols };
    let names = names(layouts, among, only)?;
    let only = only.and(names.first().copied());
    let targets = targets.map(|asked| asked.map(|asked| Choice::of(layouts, registry, asked, only)));
    let side = |index: usize| match &targets[index] {
        Some(choice) => {
            let own = |name| (name, Choice::of(layouts, registry, choice.asked.clone(), Some(name)));
            let is_there = |target: TargetId, name: &str| layouts.by_target[target].contains_key(name);
            let choices = names.iter().copied().map(own);
            let choices: Vec<_> =
                choices.filter(|(name, own)| [choice, own].iter().any(|it| is_there(it.target(), name))).collect();
            Ok(ours(layouts, choice, &names, among).with(layouts, among, &choices))
        }
        None => theirs(layouts, asked[index], &names, only),
    };
    let mut sides = [side(0)?, side(1)?];
    match &targets {
        [Some(choice), None] => leave_out(layouts, choice.target(), &mut sides),
        [None, Some(choice)] => {
            sides.reverse();
            leave_out(layouts, choice.target(), &mut sides);
            sides.reverse();
        }
        _ => {}
    }
    match only {
        Some(only) if sides.iter().all(|side| side.types.is_empty()) => {
            let notes = sides.iter().flat_map(|side| &side.notes).map(|note| format!("\n{note}"));
            Err(format!("neither side has {only}; name another structure{}", notes.collect::<String>()).into())
        }
        _ => Ok(sides),
    }
}

impl Side {
    /// All definitions of a target.
    ///
    /// # Errors
    ///
    /// None is expected: only the selection of an unknown name fails, and no name is selected here.
    pub fn of_target(layouts: &Layouts, choice: &Choice) -> Result<Self, Error> {
        Ok(ours(layouts, choice, &names(layouts, Among::All, None)?, Among::All))
    }

    /// A copy of this side with only one structure.
    pub fn only(&self, structure: &str) -> Self {
        fn one<T: Clone>(all: &BTreeMap<String, T>, name: &str) -> BTreeMap<String, T> {
            all.get_key_value(name).map(|(name, value)| (name.clone(), value.clone())).into_iter().collect()
        }
        let Self { label, choice, notes, not_compared, unexamined, rules, pointer, .. } = self;
        let alternatives = self.alternatives.iter().filter(|other| other.types.contains_key(structure));
        Self {
            label: label.clone(),
            choice: choice.clone(),
            notes: notes.clone(),
            not_compared: not_compared.clone(),
            unexamined: unexamined.iter().filter(|name| *name == structure).cloned().collect(),
            alternatives: alternatives.map(|other| other.only(structure)).collect(),
            types: one(&self.types, structure),
            pointer: *pointer,
            rules: *rules,
            c_types: one(&self.c_types, structure),
        }
    }
}

/// The target with this name; `None` if the name is a symbol file.
fn target(layouts: &Layouts, asked: &str) -> Result<Option<Asked>, Error> {
    let path = Path::new(asked);
    if path.is_dir() {
        return Err(format!("{asked}: is a folder; name one symbol file in it").into());
    }
    if path.is_file() {
        return Ok(None);
    }
    const ENDINGS: [&str; 6] = [".pdb", ".pdz", ".json", ".xz", ".facts", ".tsv"];
    if asked.contains(['/', '\\']) || ENDINGS.iter().any(|ending| asked.to_ascii_lowercase().ends_with(ending)) {
        return Err(format!("{asked}: no such file").into());
    }
    let neither = |error| format!("unknown target or symbol file `{asked}`: {error}");
    Ok(Some(layouts.spec.axis.find(asked).map_err(neither)?))
}

/// Whether a layout is that of the selected build: evidence for the build makes it sure, or the specs state it for a build of the
/// version axis.
pub fn is_known(axis: &Axis, choice: &Choice) -> bool {
    let is_uncertain = matches!(choice.confidence, Confidence::Uncertain { .. });
    let is_inferred = choice.is_stand_in(axis) || is_uncertain || choice.leader(axis).is_some();
    choice.confidence.is_sure() || !is_inferred
}

impl Side {
    /// This side, with the structures whose layouts are inferred or uncertain, and with their other candidates.
    fn with(self, layouts: &Layouts, among: Among, choices: &[(&str, Choice)]) -> Self {
        let mut unexamined = BTreeSet::new();
        let mut others: BTreeMap<TargetId, Vec<&str>> = BTreeMap::new();
        let Some(whole) = &self.choice else { return self };
        // This side has the layouts of one target. The layout that is selected for a structure alone can be that of another target.
        let differs = |name: &str, target: TargetId| {
            let layout = |target: TargetId| layouts.by_target[target].get(name);
            layout(target) != layout(whole.target())
        };
        for (name, choice) in choices {
            if is_known(&layouts.spec.axis, choice) && !differs(name, choice.target()) {
                continue;
            }
            unexamined.insert((*name).to_owned());
            let other = choice.candidates.iter().filter(|target| differs(name, **target));
            other.for_each(|other| others.entry(*other).or_default().push(name));
        }
        let alternative = |(target, names): (TargetId, Vec<&str>)| {
            let asked = layouts.spec.axis.newest(target);
            self.choice.clone().map(|choice| ours(layouts, &Choice { asked, candidates: vec![target], ..choice }, &names, among))
        };
        let alternatives = others.into_iter().filter_map(alternative).collect();
        Self { unexamined, alternatives, ..self }
    }
}

fn ours(layouts: &Layouts, choice: &Choice, names: &[&str], among: Among) -> Side {
    let target = choice.target();
    let mut types = ours::types(layouts, target, names);
    let mut c_types = BTreeMap::new();
    if among == Among::All {
        for (name, definition) in &mut types {
            let spelled = members(layouts, name, target).into_iter();
            let spelled = spelled.filter_map(|member| Some((member.path?, c_type(member.field.as_ref()?.0))));
            c_types.insert(name.clone(), spelled.collect());
            macros(layouts, name, target, definition);
        }
    }
    let axis = &layouts.spec.axis;
    let (label, notes) = (choice.label(axis), choice.note(axis).into_iter().collect());
    let pointer = axis.targets[target].arch.pointer_size();
    Side {
        label,
        choice: Some(choice.clone()),
        notes,
        not_compared: Vec::new(),
        unexamined: BTreeSet::new(),
        alternatives: Vec::new(),
        types,
        pointer,
        rules: Rules::Faithful,
        c_types,
    }
}

/// Adds the values of macros from the specs, because layouts do not contain them.
fn macros(layouts: &Layouts, name: &str, target: TargetId, definition: &mut TypeFacts) {
    let body = layouts.spec.definitions.get(name).map(|definition| &definition.body);
    if let (Some(Body::Values(values)), TypeFacts::Enumeration(Enumeration { constants, .. })) = (body, definition)
        && ours::is_macros(layouts, name)
    {
        let present = values.constants.iter().filter(|constant| constant.scope.contains(target));
        *constants = present.filter_map(|c| Some((c.name.value.clone(), c.value.get(target)?.value))).collect();
    }
}

fn theirs(layouts: &Layouts, path: &str, names: &[&str], only: Option<&str>) -> Result<Side, Error> {
    let wanted: Wanted = names.iter().copied().collect();
    // The build of the file does not matter here.
    let stated = Stated { build: Some("0.0.0".into()), arch: None };
    let tables = tables::read(&SymbolFile::on_disk(path.into()), &layouts.spec.axis, &wanted, &stated)?;
    let table = tables.into_iter().next().ok_or_else(|| format!("{path}: contains no symbol table"))?;
    let mut types = Arc::unwrap_or_clone(table.types);
    types.retain(|name, _| only.is_none_or(|only| name == only));
    let rules = Rules::for_producer(&table.producer);
    let (label, pointer) = (path.to_owned(), table.arch.pointer_size());
    let (notes, not_compared, unexamined, alternatives, c_types) = Default::default();
    Ok(Side { label, choice: None, notes, not_compared, unexamined, alternatives, types, pointer, rules, c_types })
}

/// Removes from our side the structures that symbol files of the build never contain, unless this file contains them.
fn leave_out(layouts: &Layouts, target: TargetId, [ours, theirs]: &mut [Side; 2]) {
    let beyond = |name: &String| layouts.unverifiable(name, target).is_some();
    let out: Vec<_> = ours.types.keys().filter(|name| !theirs.types.contains_key(*name) && beyond(name)).cloned().collect();
    ours.types.retain(|name, _| !out.contains(name));
    if !out.is_empty() {
        let noun = if out.len() == 1 { "structure" } else { "structures" };
        ours.notes.push(format!("{} {noun} not compared: not in public symbol files (JSON lists the names)", out.len()));
        ours.not_compared = out;
    }
}
