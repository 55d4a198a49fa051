//! From spec texts and symbol tables to the spec texts that say what the tables say. Nothing is written here.
//!
//! **Any order gives the same bytes.** An import does not add to what earlier imports left: kernels that were imported are
//! marked on the axis, what the specs say of them alone is taken out, and all of them are entered together, oldest first. So
//! the result depends on the set of imported kernels only. A text that still denotes the right targets is never touched, and
//! one that does not is spelled from its set, not from its history.
//!
//! A file in which the imported kernels do not say what import would write was edited by hand since. There they are taken as
//! written, and only the new kernels are entered.

use super::derive::Derivation;
use super::edit::{self, Context};
use super::pieces::set;
use super::prune::prune;
use super::repair::{self, repaired};
use super::rows;
use super::tree::{Definition, Subject};
use super::write;
use crate::Error;
use crate::tables::Table;
use crate::verify;
use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetSet};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::{Kind, Spec};
use etw_layouts_codegen::{Errors, Sources, read, resolve};
use std::collections::{BTreeMap, BTreeSet};

/// Spec texts by path.
pub type Texts = BTreeMap<String, String>;

/// What an import comes to.
pub struct Plan {
    /// All texts of the spec set.
    pub texts: Texts,
    /// Their layouts.
    pub layouts: Layouts,
    /// The targets of the new tables.
    pub new: Vec<usize>,
}

/// What is to be imported.
pub struct Input<'a> {
    /// The spec set.
    pub texts: &'a Texts,
    /// The tables of earlier imports, and whatever else is known.
    pub known: &'a [Table],
    /// The new tables.
    pub new: &'a [Table],
    /// Structures to specify even though no neighbour has them.
    pub added: &'a [String],
    /// Where a new structure goes.
    pub folder: &'a str,
}

/// Plans an import.
///
/// # Errors
///
/// Specs that are wrong already, and tables that specs cannot say.
pub fn plan(input: &Input) -> Result<Plan, Error> {
    let axis = axis(input.texts)?.axis;
    let marked: BTreeSet<_> = axis.kernels.iter().flat_map(|k| k.imported.iter().map(|&arch| (k.build, arch))).collect();
    let stated = |table: &&Table| marked.contains(&(table.build, table.arch));
    let mut tables: BTreeMap<(Build, Arch), &Table> = BTreeMap::new();
    for table in input.known.iter().filter(stated) {
        let slot = tables.entry((table.build, table.arch)).or_insert(table);
        if table.producer < slot.producer && slot.producer.starts_with("converted") {
            *slot = table;
        }
    }
    let earlier = tables.clone();
    tables.extend(input.new.iter().map(|table| ((table.build, table.arch), table)));
    let by_hand = match earlier.is_empty() {
        true => BTreeSet::new(),
        false => {
            // What cannot be entered again was not entered like that.
            let again = entered(input, input.texts, &earlier, &BTreeSet::new(), &BTreeSet::new()).unwrap_or_default();
            input.texts.iter().filter(|(path, text)| again.get(*path) != Some(text)).map(|(path, _)| path.clone()).collect()
        }
    };
    let mut texts = input.texts.clone();
    let (path, text) = windows(&texts)?;
    let rowed = rows::with(&path, &text, &axis, &input.new.iter().map(|t| (t.build, t.arch)).collect())?;
    texts.insert(path, rowed);
    let old = earlier.keys().copied().collect();
    let texts = entered(input, &texts, &tables, &by_hand, &old)?;
    let layouts = match read(sources(&texts)).and_then(resolve) {
        Ok(layouts) => layouts,
        Err(errors) => return Err(unresolved(&texts, &tables, errors)),
    };
    let target = |table: &Table| find(&layouts.spec.axis, table.build, table.arch);
    let mut new: Vec<_> = input.new.iter().filter_map(target).collect();
    new.sort();
    Ok(Plan { texts, layouts, new })
}

/// The index of a kernel on an architecture.
pub fn find(axis: &Axis, build: Build, arch: Arch) -> Option<usize> {
    axis.targets.iter().position(|t| t.arch == arch && axis.kernels[t.kernel].build == build)
}

/// The texts with tables entered. Of files that were edited by hand, those of `old` are taken as they are.
fn entered(
    input: &Input,
    texts: &Texts,
    tables: &BTreeMap<(Build, Arch), &Table>,
    by_hand: &BTreeSet<String>,
    old: &BTreeSet<(Build, Arch)>,
) -> Result<Texts, Error> {
    let spec = axis(texts)?;
    let axis = &spec.axis;
    let targets: BTreeMap<usize, &Table> =
        tables.iter().filter_map(|((build, arch), table)| Some((find(axis, *build, *arch)?, *table))).collect();
    let all = set(targets.keys().copied());
    let kept = set(old.iter().filter_map(|(build, arch)| find(axis, *build, *arch)));
    let new = all.difference(&kept);
    let imported = |path: &str| if by_hand.contains(path) { &new } else { &all };
    let mut others = Texts::new();
    let mut definitions = BTreeMap::new();
    for (path, text) in texts {
        let base = axis.all().difference(imported(path));
        match Definition::read(path, text, axis, &base)? {
            None => {
                others.insert(path.clone(), text.clone());
            }
            Some(definition) if definition.subject == Subject::Macros => {
                others.insert(path.clone(), text.clone());
                definitions.insert(definition.root.name.clone(), definition);
            }
            Some(definition) => {
                let pruned = prune(&definition);
                let again = pruned.map(|text| Definition::read(path, &text, axis, &base)).transpose()?.flatten();
                definitions.extend(again.map(|definition| (definition.root.name.clone(), definition)));
            }
        }
    }
    let mut derivation = Derivation { spec: &spec, definitions, tables: &targets, added: input.added, by_hand, kept: &kept };
    derivation.run()?;
    let mut definitions = derivation.definitions;
    let write = |definitions: &BTreeMap<String, Definition>| {
        let mut texts = others.clone();
        for definition in definitions.values().filter(|d| d.subject != Subject::Macros) {
            let (path, text) = written(definition, &spec, imported(&definition.path), input.folder);
            texts.insert(path, text);
        }
        texts
    };
    repaired(&mut definitions, &targets, &write)
}

/// What the tables say against specs whose own facts disagree.
fn unresolved(texts: &Texts, tables: &BTreeMap<(Build, Arch), &Table>, errors: Errors) -> Error {
    let found = read(sources(texts)).and_then(|mut spec| {
        repair::forget(&mut spec);
        resolve(spec)
    });
    let findings = found.ok().and_then(|layouts| {
        let names = verify::names(&layouts, None).ok()?;
        let checked = tables.values().filter_map(|table| verify::compared(&layouts, &names, table).ok());
        Some(checked.flat_map(|checked| super::differences(&checked)).collect::<Vec<_>>())
    });
    match findings.filter(|findings| !findings.is_empty()) {
        Some(findings) => super::refused(findings),
        None => rendered(errors),
    }
}

fn written(definition: &Definition, spec: &Spec, imported: &TargetSet, folder: &str) -> (String, String) {
    let source = definition.root.keys.get("source");
    let from_symbols = |t: usize| {
        let fresh = definition.text.is_empty();
        fresh || source.and_then(|entry| entry.at(t)).is_some_and(|value| value.text() == Some("symbols"))
    };
    let context = Context { axis: &spec.axis, imported, from_symbols: &from_symbols };
    if !definition.text.is_empty() {
        return (definition.path.clone(), edit::edited(&context, definition));
    }
    let word = match definition.subject {
        Subject::Aggregate(Kind::Struct) => "struct",
        Subject::Aggregate(Kind::Union) => "union",
        Subject::Enumeration | Subject::Macros => "enum",
    };
    let name = &definition.root.name;
    let tracing = ["ETW_", "WMI_", "WNODE_", "EVENT_", "PERFINFO_"].iter().any(|start| name.starts_with(start));
    let tracing = tracing || name.contains("TRACE_");
    let folder = format!("{folder}/{}", if tracing { "etw" } else { "nt" });
    (format!("{folder}/{name}.toml"), write::fresh(&context, definition, word))
}

/// The version axis and the scalars alone.
fn axis(texts: &Texts) -> Result<Spec, Error> {
    let mut own = Texts::new();
    for (path, text) in texts {
        let document = toml_edit::Document::parse(text.as_str()).map_err(|e| format!("{path}: {e}"))?;
        let has = |key| document.contains_key(key);
        if has("architectures") || has("version") || has("scalar") || has("typedef") {
            own.insert(path.clone(), text.clone());
        }
    }
    match read(sources(&own)) {
        Ok(spec) => Ok(spec),
        // Before the first kernel there is no axis to read.
        Err(_) if !windows(texts)?.1.contains("[[version]]") => Ok(Spec::default()),
        Err(errors) => Err(errors.render(false).into()),
    }
}

fn windows(texts: &Texts) -> Result<(String, String), Error> {
    let found = texts.iter().find(|(path, _)| path.rsplit('/').next() == Some("windows.toml"));
    found.map(|(path, text)| (path.clone(), text.clone())).ok_or_else(|| "the specs have no windows.toml".into())
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
pub fn rendered(errors: Errors) -> Error {
    errors.render(false).into()
}
