//! One table on its way through the spec texts.

use super::basis::{axis_texts, context, definitions, find, home, spec, windows};
use super::edit;
use super::enter::{Entered, Entering};
use super::gaps;
use super::kernel;
use super::splice::Texts;
use super::tree::Definition;
use super::types::by_value;
use super::write;
use crate::Error;
use crate::tables::Table;
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_symbols::Types;

/// The types of a table, and those that they embed and it lacks, as the nearest kernel of the same pointers has them: an embedded
/// type takes its bytes whether a table tells of it or not.
pub fn embedded<'a>(table: &Table, known: impl Iterator<Item = &'a Table>) -> Types {
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
pub fn entered<'a, I: Iterator<Item = &'a Table>>(
    mut texts: Texts,
    table: &Table,
    known: impl Fn() -> I,
    folder: &str,
) -> Result<Texts, Error> {
    let (path, text) = windows(&texts)?;
    let mut basis = axis_texts(&texts);
    let axis = spec(&basis)?.axis;
    let again = find(&axis, table.build, table.arch).is_some();
    let row = kernel::entered(&path, &text, &axis, table.build, table.arch)?;
    texts.insert(path.clone(), row.clone());
    basis.insert(path.clone(), row.clone());
    let mut with_row = spec(&basis)?;
    let axis = &with_row.axis;
    let told =
        |arch: Arch| known().any(|other| other.arch == arch && find(axis, table.build, arch) == axis.at(other.build, arch));
    let followers = axis.follows.iter().filter(|&(arch, leader)| *leader == table.arch && !told(*arch));
    let followers: Vec<Arch> = followers.map(|(arch, _)| *arch).collect();
    let alone = kernel::without(&row, axis, table.build, &followers);
    if alone != row {
        basis.insert(path, alone);
        with_row = spec(&basis)?;
    }
    stated(texts, &with_row, table, &embedded(table, known()), again, folder)
}

/// The texts that say what a table of a row says. `spec` has the axis, the row on it; `embedded` are the table's types, and those that they
/// embed and it lacks; `again` tells whether the texts spoke of the row before.
fn stated(mut texts: Texts, spec: &Spec, table: &Table, embedded: &Types, again: bool, folder: &str) -> Result<Texts, Error> {
    let target = find(&spec.axis, table.build, table.arch).ok_or("the kernel is not on the axis")?;
    let definitions = definitions(&texts, &spec.axis)?;
    let named = |error: String| format!("{}, {}-{}: {error}", table.source, table.label, table.arch);
    let mut entering = Entering { spec, target, again, table, embedded, definitions };
    let Entered { held, gone, unconfirmed } = entering.run().map_err(named)?;
    let mut definitions = entering.definitions;
    gaps::explain(spec, target, &table.types, &held, &mut definitions);
    for (name, definition) in &definitions {
        let context = context(spec, target, definition);
        let text = match unconfirmed.get(name) {
            _ if definition.path.is_empty() => {
                let (path, word) = home(definition, folder);
                let definition = Definition { root: definition.root.kept(target), ..definition.clone() };
                texts.insert(path, write::fresh(&context, &definition, word));
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
