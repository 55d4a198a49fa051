//! Completion of a spec set from standard specs: the version axis, scalars, and types that it embeds.

use crate::axis::Axis;
use crate::ctype::CType;
use crate::diagnostic::Errors;
use crate::layouts::Layouts;
use crate::read::{Reading, read_all};
use crate::resolve::compiled;
use crate::source::{Sources, named};
use crate::spec::{Body, Member, Piecewise, Shape, Spec};
use crate::syntax::{TableKind, Tree};
use std::collections::BTreeSet;

/// Reads a spec set and computes its layouts, as [`compile`](crate::compile) does, after completing it from standard specs, each
/// given by path and text:
///
/// - the version axis, if the set has none or extends this one; layouts of standard types at added builds are inferred;
/// - each scalar and typedef, if the set does not define its name;
/// - each type that members embed and the enumerations and flags of members, if the set does not define the name, and if its axis
///   has every build of the standard axis.
///
/// # Errors
///
/// As [`compile`](crate::compile).
pub fn compile_with(sources: Sources, standard: &[(&str, &str)]) -> Result<Layouts, Errors> {
    let (reading, is_theirs) = completed(sources, standard);
    let mut layouts = compiled(reading)?;
    if is_theirs {
        // `unverifiable` of a release is about the structures of the standard specs.
        layouts.spec.axis.releases.iter_mut().for_each(|release| release.unverifiable = None);
    }
    Ok(layouts)
}

/// The readable part of a completed spec set, and whether its axis is the standard one or extends it.
pub(crate) fn completed(mut sources: Sources, standard: &[(&str, &str)]) -> (Reading, bool) {
    let is_theirs = complete(&mut sources, standard);
    let mut reading = read_all(sources);
    if is_theirs || has_all(&reading.spec.axis, standard) {
        reading = with_types(reading, standard);
    }
    (reading, is_theirs)
}

/// Adds the scalars that a spec set lacks, and the axis if it has none. Returns whether the axis was added.
fn complete(sources: &mut Sources, standard: &[(&str, &str)]) -> bool {
    if standard.is_empty() {
        return false;
    }
    let mut names = BTreeSet::new();
    let mut axis = false;
    for file in sources.files() {
        let (tree, _) = Tree::parse(&file.text);
        axis |= tree.root().get("release").is_some() && tree.root().get("extends").is_none();
        for entry in tree.root().entries() {
            names.extend(entry.named().iter().map(|own| own.name.to_owned()));
            // A type can have the name of a scalar; names of members do not matter.
            let types = entry.tables().into_iter().filter(|table| matches!(table.kind, TableKind::Aggregate | TableKind::Values));
            names.extend(types.filter_map(|table| Some(table.text("name")?.to_owned())));
        }
    }
    if let Some((path, text)) = named(standard, "scalars") {
        // Each scalar is one line. A removed one becomes an empty line, so that line numbers do not change.
        let name_of = |line: &str| line.split_once('=').map(|(name, _)| name.trim().to_owned());
        let missing = text.lines().map(|line| if name_of(line).is_some_and(|name| names.contains(&name)) { "" } else { line });
        let missing: Vec<_> = missing.collect();
        if missing.iter().any(|line| name_of(line).is_some()) {
            sources.add_standard(theirs(path), missing.join("\n"));
        }
    }
    !axis && add(sources, standard, "windows")
}

/// Adds the standard file with a name. Returns whether there is one.
fn add(sources: &mut Sources, standard: &[(&str, &str)], name: &str) -> bool {
    let found = named(standard, name);
    found.iter().for_each(|(path, text)| sources.add_standard(theirs(path), *text));
    found.is_some()
}

/// The path of a standard file in messages.
fn theirs(path: &str) -> String {
    format!("{path} of etw-layouts")
}

fn has_all(axis: &Axis, standard: &[(&str, &str)]) -> bool {
    let mut sources = Sources::default();
    let theirs = add(&mut sources, standard, "windows").then(|| read_all(sources).spec.axis);
    theirs.is_some_and(|theirs| theirs.revisions.iter().all(|theirs| axis.revisions.iter().any(|own| own.build == theirs.build)))
}

/// Adds types that are used but not defined, and the types that these use.
fn with_types(mut reading: Reading, standard: &[(&str, &str)]) -> Reading {
    loop {
        let spec = &mut reading.spec;
        let missing: Vec<_> = used(spec).into_iter().filter(|name| !is_known(spec, name)).collect();
        let mut sources = std::mem::take(&mut spec.sources);
        let added = missing.iter().filter(|name| add(&mut sources, standard, name)).count();
        if added == 0 {
            reading.spec.sources = sources;
            return reading;
        }
        reading = read_all(sources);
    }
}

fn is_known(spec: &Spec, name: &str) -> bool {
    let known = spec.definitions.contains_key(name) || spec.broken.contains(name);
    known || spec.scalars.contains_key(name) || spec.typedefs.contains_key(name)
}

/// The names of types that members embed and global variables have, and of the enumerations and flags of members.
fn used(spec: &Spec) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for definition in spec.definitions.values() {
        if let Body::Aggregate(aggregate) = &definition.body {
            aggregate.members.iter().for_each(|member| of_member(member, &mut names));
        }
    }
    spec.globals.values().for_each(|global| of_types(&global.ty, &mut names));
    // Types behind typedefs, including typedefs of typedefs.
    let mut new: Vec<_> = names.iter().cloned().collect();
    while let Some(types) = new.pop().map(|name| spec.typedefs.get(&name)) {
        let mut behind = BTreeSet::new();
        types.into_iter().for_each(|types| of_types(types, &mut behind));
        new.extend(behind.into_iter().filter(|name| names.insert(name.clone())));
    }
    names
}

fn of_member(member: &Member, names: &mut BTreeSet<String>) {
    names.extend(member.values.iter().map(|values| values.value.clone()));
    match &member.shape {
        Shape::Inline(_, members) => members.iter().for_each(|member| of_member(member, names)),
        Shape::Type(types) => of_types(types, names),
    }
}

fn of_types(types: &Piecewise<CType>, names: &mut BTreeSet<String>) {
    for piece in &types.0 {
        let mut ctype = &piece.value;
        while let CType::Array { of, .. } = ctype {
            ctype = of;
        }
        if let CType::Name { name, .. } = ctype {
            names.insert(name.clone());
        }
    }
}
