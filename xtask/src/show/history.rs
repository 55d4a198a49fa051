//! The life of a structure and of its members over all versions.

use super::members::{c_type, members};
use crate::names::{Among, names};
use crate::{Error, columns};
use anstyle::Style;
use etw_layouts_codegen::axis::{Arch, Axis, TargetSet};
use etw_layouts_codegen::layouts::{Bits, Layouts};
use etw_layouts_codegen::nearest;
use etw_layouts_codegen::spec::{self, Body, Shape};
use serde::Serialize;
use std::collections::BTreeMap;

/// The life of a structure.
pub struct History {
    structure: String,
    targets: TargetSet,
    sizes: Vec<Stage>,
    /// By member or constant.
    members: Vec<(String, Vec<Stage>)>,
}

/// A run of kernels in which nothing changes.
struct Stage {
    targets: TargetSet,
    /// What is different from the stage before, in words.
    change: String,
    facts: Facts,
}

/// By architecture, x86 first. Nothing is known where no target of the stage has the structure; `Known(None)` is absent.
type Facts = [Known; 2];
type Known = Option<Option<Fact>>;

#[derive(Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Fact {
    Size { size: u64, align: u64 },
    Member { offset: u64, size: u64, r#type: String, bit: Option<u64>, bits: Option<u64> },
    Constant { value: i64 },
}

/// The life of a structure and of all its members, or of the one that follows a dot.
///
/// # Errors
///
/// There is no such structure or member; which there are, and the nearest.
pub fn of(layouts: &Layouts, asked: &str, arch: Option<Arch>) -> Result<History, Error> {
    let (structure, member) = asked.split_once('.').map_or((asked, None), |(structure, member)| (structure, Some(member)));
    names(layouts, Among::All, Some(structure))?;
    let axis = &layouts.spec.axis;
    let mut targets = TargetSet::default();
    let mut sizes = BTreeMap::new();
    let mut facts: BTreeMap<String, BTreeMap<usize, Fact>> = BTreeMap::new();
    let has = super::has(layouts, structure);
    for target in has.iter().filter(|&target| arch.is_none_or(|arch| axis.targets[target].arch == arch)) {
        targets.insert(target);
        let extent = layouts.get(target, structure).map(|layout| layout.extent()).unwrap_or_default();
        sizes.insert(target, Fact::Size { size: extent.size, align: extent.align });
        for (path, fact) in facts_at(layouts, structure, target) {
            facts.entry(path).or_default().insert(target, fact);
        }
    }
    let mut order = declared(layouts, structure);
    if let Some(member) = member {
        let known = || order.iter().map(String::as_str);
        if !known().any(|path| path == member) {
            let meant = nearest(member, known()).map_or(".".to_owned(), |near| format!("; did you mean `{near}`?"));
            let list = known().collect::<Vec<_>>().join(", ");
            return Err(format!("{structure} has no member `{member}`{meant} It has {list}").into());
        }
        order.retain(|path| path == member);
    }
    let life = |path: String| {
        let stages = stages(axis, &targets, facts.get(&path)?);
        Some((path, stages))
    };
    Ok(History {
        structure: structure.to_owned(),
        sizes: stages(axis, &targets, &sizes),
        members: order.into_iter().filter_map(life).collect(),
        targets,
    })
}

/// The members and constants of a structure, each by its path.
fn facts_at(layouts: &Layouts, structure: &str, target: usize) -> Vec<(String, Fact)> {
    let mut facts = Vec::new();
    for member in members(layouts, structure, target) {
        if let (Some(path), Some((field, _))) = (member.path, member.field) {
            let bit = member.bits.map(|bits| bits.position);
            let bits = member.bits.map(|bits| bits.width);
            let fact = Fact::Member { offset: member.offset, size: member.size, r#type: c_type(field), bit, bits };
            facts.push((path, fact));
        }
    }
    if let Some(Body::Values(values)) = layouts.spec.definitions.get(structure).map(|definition| &definition.body) {
        for constant in values.constants.iter().filter(|constant| constant.scope.contains(target)) {
            let value = constant.value.get(target).map(|piece| Fact::Constant { value: piece.value });
            facts.extend(value.map(|value| (constant.name.value.clone(), value)));
        }
    }
    facts
}

/// The paths of all members and constants that any version has, in the order of the spec.
fn declared(layouts: &Layouts, structure: &str) -> Vec<String> {
    fn walk(members: &[spec::Member], path: &str, list: &mut Vec<String>) {
        for member in members {
            let mut inner = path.to_owned();
            if let Some(name) = &member.name {
                let own = format!("{path}{}", name.value);
                inner = format!("{own}.");
                if !list.contains(&own) {
                    list.push(own);
                }
            }
            if let Shape::Inline(_, members) = &member.shape {
                walk(members, &inner, list);
            }
        }
    }
    let mut list = Vec::new();
    match layouts.spec.definitions.get(structure).map(|definition| &definition.body) {
        Some(Body::Aggregate(aggregate)) => walk(&aggregate.members, "", &mut list),
        Some(Body::Values(values)) => list.extend(values.constants.iter().map(|constant| constant.name.value.clone())),
        None => {}
    }
    list
}

/// The runs of kernels with the same facts, from the first that has any.
fn stages(axis: &Axis, targets: &TargetSet, facts: &BTreeMap<usize, Fact>) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for kernel in 0..axis.kernels.len() {
        let mut known: Facts = [None, None];
        let mut set = TargetSet::default();
        for target in targets.iter().filter(|&target| axis.targets[target].kernel == kernel) {
            known[side(axis.targets[target].arch)] = Some(facts.get(&target).cloned());
            set.insert(target);
        }
        match stages.last_mut() {
            _ if set.is_empty() => {}
            // Where an architecture does not exist, it cannot differ.
            Some(last) if pairs(&last.facts, &known).all(|(a, b)| a == b) => {
                last.targets = last.targets.union(&set);
                for (fact, new) in last.facts.iter_mut().zip(known) {
                    *fact = new.or(fact.take());
                }
            }
            _ => stages.push(Stage { targets: set, change: String::new(), facts: known }),
        }
    }
    for index in 1..stages.len() {
        stages[index].change = change(&stages[index - 1].facts, &stages[index].facts);
    }
    if stages.first().is_some_and(Stage::is_absent) {
        stages.remove(0);
    }
    stages
}

fn side(arch: Arch) -> usize {
    match arch {
        Arch::X86 => 0,
        Arch::X64 => 1,
    }
}

/// What is known of both, by architecture.
fn pairs<'a>(a: &'a Facts, b: &'a Facts) -> impl Iterator<Item = (Option<&'a Fact>, Option<&'a Fact>)> {
    a.iter().zip(b).filter_map(|(a, b)| Some((a.as_ref()?.as_ref(), b.as_ref()?.as_ref())))
}

fn change(before: &Facts, after: &Facts) -> String {
    let mut words = Vec::new();
    for (before, after) in pairs(before, after) {
        let new = match (before, after) {
            (None, Some(_)) => vec!["appears"],
            (Some(_), None) => vec!["disappears"],
            (Some(Fact::Size { size, align }), Some(Fact::Size { size: s, align: a })) => {
                [("grows", size < s), ("shrinks", size > s), ("realigned", align != a)]
                    .iter()
                    .filter(|c| c.1)
                    .map(|c| c.0)
                    .collect()
            }
            (
                Some(Fact::Member { offset, r#type, bit, bits, .. }),
                Some(Fact::Member { offset: o, r#type: t, bit: b, bits: n, .. }),
            ) => {
                let changes = [("moves", offset != o), ("retyped", r#type != t), ("other bits", (bit, bits) != (b, n))];
                changes.iter().filter(|c| c.1).map(|c| c.0).collect()
            }
            (Some(Fact::Constant { .. }), Some(Fact::Constant { .. })) if before != after => vec!["changes"],
            _ => Vec::new(),
        };
        words.extend(new);
    }
    let mut once = Vec::new();
    for word in words {
        if !once.contains(&word) {
            once.push(word);
        }
    }
    once.join(", ")
}

impl Stage {
    fn is_absent(&self) -> bool {
        self.facts.iter().flatten().all(Option::is_none)
    }

    fn row(&self, axis: &Axis) -> columns::Row {
        let facts = || self.facts.iter().flatten().flatten();
        let number = |known: &Known| match known {
            Some(Some(Fact::Size { size: number, .. } | Fact::Member { offset: number, .. })) => format!("{number:#06x}"),
            Some(Some(Fact::Constant { value })) => format!("{value:#x}"),
            _ => "-".into(),
        };
        let mut types: Vec<&str> =
            facts().filter_map(|f| if let Fact::Member { r#type, .. } = f { Some(&**r#type) } else { None }).collect();
        types.dedup();
        let mut bits: Vec<_> = facts().filter_map(bits).map(super::table::range).collect();
        bits.dedup();
        let [x86, x64] = &self.facts;
        let cells = vec![
            format!("  {}", axis.describe(&self.targets)),
            number(x86),
            number(x64),
            types.join(" / "),
            bits.join(" / "),
            self.change.clone(),
        ];
        let style = if self.is_absent() { Style::new().dimmed() } else { Style::new() };
        columns::Row { style, cells }
    }
}

fn bits(fact: &Fact) -> Option<Bits> {
    match fact {
        Fact::Member { bit: Some(position), bits: Some(width), .. } => Some(Bits { position: *position, width: *width }),
        _ => None,
    }
}

impl History {
    /// The history to read.
    pub fn text(&self, layouts: &Layouts) -> String {
        let axis = &layouts.spec.axis;
        let mut rows = Vec::new();
        let sized = (!self.is_values(layouts)).then_some(("size", &self.sizes));
        for (name, stages) in sized.into_iter().chain(self.members.iter().map(|(name, stages)| (name.as_str(), stages))) {
            rows.push(columns::Row { style: Style::new().bold(), cells: vec![name.to_owned()] });
            rows.extend(stages.iter().map(|stage| stage.row(axis)));
        }
        columns::aligned(&[&format!("{} in", self.structure), "x86", "x64", "type", "bits", "change"], &rows, None)
    }

    fn is_values(&self, layouts: &Layouts) -> bool {
        let definition = layouts.spec.definitions.get(&self.structure);
        definition.is_some_and(|definition| matches!(definition.body, Body::Values(_)))
    }

    /// The history as one JSON document.
    ///
    /// # Errors
    ///
    /// None that the data can cause.
    pub fn json(&self, layouts: &Layouts) -> Result<String, Error> {
        let axis = &layouts.spec.axis;
        let members = self.members.iter().map(|(name, stages)| LifeJson { name, life: json(axis, stages) });
        let document = Document {
            structure: &self.structure,
            r#in: axis.describe(&self.targets),
            sizes: json(axis, &self.sizes),
            members: members.collect(),
        };
        Ok(serde_json::to_string_pretty(&document)?)
    }
}

#[derive(Serialize)]
struct Document<'a> {
    structure: &'a str,
    r#in: String,
    sizes: Vec<StageJson<'a>>,
    members: Vec<LifeJson<'a>>,
}

#[derive(Serialize)]
struct LifeJson<'a> {
    name: &'a str,
    life: Vec<StageJson<'a>>,
}

#[derive(Serialize)]
struct StageJson<'a> {
    r#in: String,
    change: &'a str,
    x86: Option<&'a Fact>,
    x64: Option<&'a Fact>,
}

fn json<'a>(axis: &Axis, stages: &'a [Stage]) -> Vec<StageJson<'a>> {
    let one = |stage: &'a Stage| {
        let [x86, x64] = stage.facts.each_ref().map(|known| known.as_ref().and_then(Option::as_ref));
        StageJson { r#in: axis.describe(&stage.targets), change: &stage.change, x86, x64 }
    };
    stages.iter().map(one).collect()
}
