//! From spec texts and symbol tables to the spec texts that say what the tables say. Nothing is written here.
//!
//! Each kernel is an ordinary edit of the specs as they stand, whoever wrote them. One whose layouts are known changes nothing, or says
//! from which revision on they are so (`step.rs`, `border.rs`). Any other table passes straight through: it gets its row on the axis
//! (`kernel.rs`), each file is read as a tree (`tree.rs`), the table's members are given to entries (`enter.rs`), gaps are
//! explained (`gaps.rs`), and the texts that no longer say what is so are changed, and only those (`edit.rs`, `write.rs`). When all
//! tables have passed, the whole is resolved once. A border that images prove (`images.rs`) is a table like any other.

use super::border;
use super::edit;
use super::enter::{Entered, Entering};
use super::gaps;
use super::images::Border;
use super::kernel;
use super::splice::Texts;
use super::step::{self, Step};
use super::tree::{Definition, Subject};
use super::types::by_value;
use super::write::{self, Context};
use crate::Error;
use crate::tables::Table;
use etw_layouts_codegen::axis::{Arch, Axis, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::{Kind, Spec};
use etw_layouts_codegen::syntax::{Sort, Tree};
use etw_layouts_codegen::{Errors, Sources, read, resolve};
use etw_layouts_symbols::{Rules, Types};
use std::collections::{BTreeMap, BTreeSet};

/// What an import comes to.
pub struct Plan {
    /// All texts of the spec set.
    pub texts: Texts,
    /// Their layouts.
    pub layouts: Layouts,
    /// The targets that the new tables are a row of the axis for, or change.
    pub new: Vec<usize>,
    /// The targets whose layouts other new tables state, each with their builds.
    pub same: BTreeMap<usize, Vec<Build>>,
    /// The kernels that begin earlier than was known: what they were, and what they are.
    pub moved: Vec<[Build; 2]>,
    /// The borders that images prove.
    pub borders: Vec<Border>,
}

/// What is to be imported.
pub struct Input<'a> {
    /// The spec set.
    pub texts: &'a Texts,
    /// What is known of other kernels.
    pub known: &'a [Table],
    /// The new tables.
    pub new: &'a [Table],
    /// Structures to specify even though no neighbour has them.
    pub added: &'a [String],
    /// Where a new structure goes.
    pub folder: &'a str,
}

/// Plans an import: each table in the order of the revisions, and of each build those that symbols state whole before those that were
/// converted, which tell less.
///
/// # Errors
///
/// Specs that are wrong already, and tables that specs cannot say.
pub fn plan(input: &Input) -> Result<Plan, Error> {
    let mut tables: Vec<&Table> = input.new.iter().collect();
    let converted = |table: &Table| Rules::for_producer(&table.producer) == Rules::Converted;
    tables.sort_by_key(|table| (table.build.number, converted(table), table.build.revision, table.arch));
    let mut texts = input.texts.clone();
    let mut layouts = None;
    let (mut entered, mut same, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for (index, &table) in tables.iter().enumerate() {
        let now = match layouts.take() {
            Some(layouts) => Some(layouts),
            None if has_axis(&texts)? => Some(compiled(&texts)?),
            None => None,
        };
        let known = || input.known.iter().chain(tables[..index].iter().copied());
        match now.as_ref().map_or(Step::Row(table.build), |layouts| step::of(layouts, table, input.added, known)) {
            Step::Known => {
                same.push(table);
                layouts = now;
            }
            Step::Border(row) => {
                let axis = now.map(|layouts| layouts.spec.axis).unwrap_or_default();
                texts = border::moved(&texts, &axis, row, table.build)?;
                moved.push([row, table.build]);
                same.push(table);
            }
            Step::Row(build) => {
                let later = now.as_ref().and_then(|layouts| step::later(layouts, table, build, known()));
                if let Some(later) = later {
                    texts = self::entered(texts, later, known, &[], input.folder)?;
                }
                texts = self::entered(texts, &Table { build, ..table.clone() }, known, input.added, input.folder)?;
                entered.push(table);
            }
        }
    }
    let layouts = match layouts {
        Some(layouts) => layouts,
        None => compiled(&texts)?,
    };
    let target = |table: &&Table| layouts.spec.axis.at(table.build, table.arch);
    let new: BTreeSet<_> = entered.iter().filter_map(target).collect();
    let mut stated: BTreeMap<usize, Vec<Build>> = BTreeMap::new();
    for table in &same {
        stated.entry(target(table).ok_or("the kernel is not on the axis")?).or_default().push(table.build);
    }
    Ok(Plan { texts, new: new.into_iter().collect(), same: stated, moved, borders: Vec::new(), layouts })
}

fn compiled(texts: &Texts) -> Result<Layouts, Error> {
    read(sources(texts)).and_then(resolve).map_err(rendered)
}

/// The types of a table, and those that they embed and it lacks, as the nearest kernel of the same pointers has them: an embedded
/// type takes its bytes whether a table tells of it or not.
fn embedded<'a>(table: &Table, known: impl Iterator<Item = &'a Table>) -> Types {
    let pointers = |table: &Table| table.arch.pointer_size();
    let mut near: Vec<_> = known.filter(|other| pointers(other) == pointers(table)).collect();
    near.sort_by_key(|other| (other.build.number[2].abs_diff(table.build.number[2]), other.build));
    let mut types = (*table.types).clone();
    let mut pending: Vec<String> = table.types.values().flat_map(by_value).collect();
    while let Some(name) = pending.pop().filter(|_| !near.is_empty()) {
        if !types.contains_key(&name)
            && let Some(facts) = near.iter().find_map(|other| other.types.get(&name))
        {
            pending.extend(by_value(facts));
            types.insert(name, facts.clone());
        }
    }
    types
}

/// The texts with one kernel entered, beside `known` ones.
///
/// The row is without the architectures that follow the table's while it is entered, so that what is entered holds for them too. One
/// stays that a known table tells of: its layouts are its own.
pub(super) fn entered<'a, I: Iterator<Item = &'a Table>>(
    mut texts: Texts,
    table: &Table,
    known: impl Fn() -> I,
    added: &[String],
    folder: &str,
) -> Result<Texts, Error> {
    let (path, text) = windows(&texts)?;
    let axis = basis(&texts)?.axis;
    let again = find(&axis, table.build, table.arch).is_some();
    let row = kernel::entered(&path, &text, &axis, table.build, table.arch)?;
    texts.insert(path.clone(), row.clone());
    let axis = basis(&texts)?.axis;
    let told =
        |arch: Arch| known().any(|other| other.arch == arch && find(&axis, table.build, arch) == axis.at(other.build, arch));
    let followers = axis.follows.iter().filter(|&(arch, leader)| *leader == table.arch && !told(*arch));
    let followers: Vec<Arch> = followers.map(|(arch, _)| *arch).collect();
    texts.insert(path.clone(), kernel::without(&row, &axis, table.build, &followers));
    let mut texts = stated(texts, table, &embedded(table, known()), again, added, folder)?;
    texts.insert(path, row);
    Ok(texts)
}

/// The texts that say what a table of a row says. `embedded` are its types, and those that they embed and it lacks; `again` tells
/// whether the texts spoke of the row before.
fn stated(
    mut texts: Texts,
    table: &Table,
    embedded: &Types,
    again: bool,
    added: &[String],
    folder: &str,
) -> Result<Texts, Error> {
    let spec = basis(&texts)?;
    let target = find(&spec.axis, table.build, table.arch).ok_or("the kernel is not on the axis")?;
    let mut definitions = BTreeMap::new();
    for (path, text) in &texts {
        let read = Definition::read(path, text, &spec.axis)?;
        definitions.extend(read.map(|definition| (definition.root.name.clone(), definition)));
    }
    let named = |error: String| format!("{}, {}: {error}", table.source, spec.axis.target_name(target));
    let mut entering = Entering { spec: &spec, target, again, table, embedded, definitions };
    let Entered { held, gone, unconfirmed } = entering.run(added).map_err(named)?;
    let mut definitions = entering.definitions;
    gaps::explain(&spec, target, &table.types, &held, &mut definitions);
    for (name, definition) in &definitions {
        let context = context(&spec, target, definition);
        let text = match unconfirmed.get(name) {
            _ if definition.path.is_empty() => {
                let (path, word) = home(definition, folder);
                texts.insert(path, write::fresh(&context, definition, word));
                continue;
            }
            Some(reason) if definition.root.now.is_none() => edit::unconfirmed(&context, definition, reason),
            _ if held.contains(name) || gone.contains(name) || unconfirmed.contains_key(name) => {
                edit::edited(&context, definition)
            }
            _ => continue,
        };
        texts.insert(definition.path.clone(), text);
    }
    Ok(texts)
}

fn context<'a>(spec: &'a Spec, target: usize, definition: &Definition) -> Context<'a> {
    let source = definition.root.keys.get("source").and_then(|pieces| pieces.at(target));
    let from_symbols = definition.path.is_empty() || source.is_some_and(|value| value.text() == Some("symbols"));
    Context { axis: &spec.axis, target, from_symbols }
}

/// The path of a new definition, and the word that it begins with.
fn home(definition: &Definition, folder: &str) -> (String, &'static str) {
    let word = match definition.subject {
        Subject::Aggregate(Kind::Struct) => "struct",
        Subject::Aggregate(Kind::Union) => "union",
        Subject::Enumeration => "enum",
    };
    let name = &definition.root.name;
    let tracing = ["ETW_", "WMI_", "WNODE_", "EVENT_", "PERFINFO_"].iter().any(|start| name.starts_with(start));
    let tracing = tracing || name.contains("TRACE_");
    (format!("{folder}/{}/{name}.toml", if tracing { "etw" } else { "nt" }), word)
}

/// The index of a kernel on an architecture.
pub fn find(axis: &Axis, build: Build, arch: Arch) -> Option<usize> {
    axis.targets.iter().position(|t| t.arch == arch && axis.kernels[t.kernel].build == build)
}

/// The version axis and the scalars alone.
fn basis(texts: &Texts) -> Result<Spec, Error> {
    let is_basis = |text: &String| {
        let (tree, _) = Tree::parse(text);
        tree.root().sort != Sort::File
    };
    let own: Texts = texts.iter().filter(|(_, text)| is_basis(text)).map(|(path, text)| (path.clone(), text.clone())).collect();
    match read(sources(&own)) {
        Ok(spec) => Ok(spec),
        // Before the first kernel there is no axis to read.
        Err(_) if !has_axis(texts)? => Ok(Spec::default()),
        Err(errors) => Err(rendered(errors)),
    }
}

fn has_axis(texts: &Texts) -> Result<bool, Error> {
    Ok(windows(texts)?.1.contains("[[version]]"))
}

fn windows(texts: &Texts) -> Result<(String, String), Error> {
    let found = texts.iter().find(|(path, _)| path.rsplit('/').next() == Some("windows.toml"));
    let (path, text) = found.ok_or("the specs have no windows.toml")?;
    if Tree::parse(text).0.root().get("extends").is_some() {
        let help =
            "let it list all kernels, as specs/windows.toml of etw-layouts does, beside copies of the types that are embedded";
        return Err(format!("{path} extends the axis of Windows, and import enters kernels into a whole one: {help}").into());
    }
    Ok((path.clone(), text.clone()))
}

/// Texts as codegen reads them.
pub fn sources(texts: &Texts) -> Sources {
    let mut sources = Sources::default();
    for (path, text) in texts {
        sources.add(path.clone(), text.clone());
    }
    sources
}

/// What is wrong with a spec set, as text.
fn rendered(errors: Errors) -> Error {
    errors.render(false).into()
}
