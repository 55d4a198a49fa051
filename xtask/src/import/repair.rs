//! Alignments that symbols do not tell: where a member is further than its rules put it, something aligned it.

use super::plan::{Texts, rendered, sources};
use super::tree::{Definition, Node, Subject};
use crate::Error;
use crate::tables::Table;
use etw_layouts_codegen::layouts::{Field, Form, Layouts, Type};
use etw_layouts_codegen::spec::{Body, Member, Shape, Spec};
use etw_layouts_codegen::{read, resolve};
use etw_layouts_symbols as symbols;
use std::collections::BTreeMap;

/// More would be no repair.
const ROUNDS: usize = 32;

/// Writes definitions, and aligns or packs what is not where the tables have it.
///
/// # Errors
///
/// Specs that cannot be laid out.
pub fn repaired(
    definitions: &mut BTreeMap<String, Definition>,
    tables: &BTreeMap<usize, &Table>,
    write: &dyn Fn(&BTreeMap<String, Definition>) -> Texts,
) -> Result<Texts, Error> {
    for _ in 0..ROUNDS {
        let texts = write(definitions);
        let mut spec = read(sources(&texts)).map_err(rendered)?;
        forget(&mut spec);
        let layouts = resolve(spec).map_err(rendered)?;
        let mut changed = false;
        for (&target, table) in tables {
            changed |= at_target(definitions, &layouts, target, table);
        }
        if !changed {
            for definition in definitions.values_mut() {
                tables.keys().for_each(|&target| followed(definition, &layouts, target));
            }
            break;
        }
    }
    Ok(write(definitions))
}

/// Offsets and sizes of what no symbols tell.
fn followed(definition: &mut Definition, layouts: &Layouts, target: usize) {
    let Some(Form::Aggregate(laid_out)) = layouts.get(target, &definition.root.name).map(|layout| &layout.form) else { return };
    match definition.root.now.get_mut(&target) {
        Some(now) if now.copied => now.size = Some(laid_out.extent.size),
        _ => return,
    }
    members(&mut definition.root.children, &laid_out.fields, target, 0);
}

fn members(children: &mut [Node], fields: &[Field], target: usize, base: u64) {
    for (node, field) in children.iter_mut().filter(|node| node.active(target)).zip(fields) {
        let offset = base + field.offset;
        if let Some(now) = node.now.get_mut(&target) {
            now.offset = Some(offset);
            now.mask = field.bits.map(|bits| bits.mask());
        }
        if let Type::Inline(inner) = &field.ty {
            members(&mut node.children, &inner.fields, target, if node.name.is_empty() { offset } else { 0 });
        }
    }
}

fn at_target(definitions: &mut BTreeMap<String, Definition>, layouts: &Layouts, target: usize, table: &Table) -> bool {
    let mut wrong: Vec<&str> = Vec::new();
    for (name, facts) in &table.types {
        let (Some(layout), symbols::Definition::Aggregate(facts)) = (layouts.get(target, name), facts) else { continue };
        let Form::Aggregate(ours) = &layout.form else { continue };
        let theirs: BTreeMap<_, _> = facts.members.iter().map(|m| (m.name.as_str(), m.offset)).collect();
        let moved = ours.flat().iter().any(|flat| theirs.get(flat.name).is_some_and(|offset| *offset != flat.offset));
        if moved || ours.extent.size != facts.size {
            wrong.push(name);
        }
    }
    let mut changed = false;
    for name in &wrong {
        let (Some(definition), Some(symbols::Definition::Aggregate(facts))) =
            (definitions.get_mut(*name), table.types.get(*name))
        else {
            continue;
        };
        let mut parts = Vec::new();
        facts.members.iter().for_each(|member| super::types::holds(&member.ty, &mut parts));
        if definition.subject != Subject::Macros && !parts.iter().any(|part| wrong.contains(&part.as_str())) {
            changed |= aligned(definition, layouts, target, facts);
        }
    }
    changed
}

fn aligned(definition: &mut Definition, layouts: &Layouts, target: usize, facts: &symbols::Aggregate) -> bool {
    let Some(Form::Aggregate(ours)) = layouts.get(target, &definition.root.name).map(|layout| &layout.form) else { return false };
    let theirs: BTreeMap<_, _> = facts.members.iter().map(|m| (m.name.as_str(), m.offset)).collect();
    let fresh = definition.text.is_empty();
    for flat in ours.flat() {
        let Some(&offset) = theirs.get(flat.name).filter(|offset| **offset != flat.offset) else { continue };
        if offset < flat.offset {
            return fresh && packed(&mut definition.root, target);
        }
        let Some(align) = raising(flat.offset, offset) else { return false };
        return find(&mut definition.root.children, flat.name, target, offset).is_some_and(|node| {
            let note = format!("an alignment of {align} bytes is inferred from the gap before it");
            set(node, target, align, note)
        });
    }
    let Some(align) = raising(ours.extent.size, facts.size).filter(|_| ours.extent.size < facts.size) else {
        return fresh && ours.extent.size > facts.size && packed(&mut definition.root, target);
    };
    set(&mut definition.root, target, align, format!("an alignment of {align} bytes is inferred from the size"))
}

/// The least alignment that raises an offset to another.
fn raising(from: u64, to: u64) -> Option<u64> {
    (1..=13).map(|bit| 1 << bit).find(|align| from.checked_next_multiple_of(*align) == Some(to))
}

fn set(node: &mut Node, target: usize, align: u64, note: String) -> bool {
    let Some(now) = node.now.get_mut(&target) else { return false };
    if now.align.is_some_and(|known| known >= align) {
        return false;
    }
    now.align = Some(align);
    node.remark(&note);
    true
}

fn packed(root: &mut Node, target: usize) -> bool {
    let Some(now) = root.now.get_mut(&target) else { return false };
    let next = match now.pack {
        None => 4,
        Some(1) => return false,
        Some(pack) => pack / 2,
    };
    now.pack = Some(next);
    root.remark("the packing is inferred from members below their natural alignment");
    true
}

/// The entry of a flattened member, or the outermost group that begins with it.
fn find<'n>(children: &'n mut [Node], name: &str, target: usize, offset: u64) -> Option<&'n mut Node> {
    for node in children.iter_mut().filter(|node| node.active(target)) {
        if node.name == name {
            return Some(node);
        }
        if node.name.is_empty() && node.holds(name) {
            let begins = node.now.get(&target).is_some_and(|now| now.offset == Some(offset));
            return if begins { Some(node) } else { find(&mut node.children, name, target, offset) };
        }
    }
    None
}

/// Without its witnesses a spec can be laid out even where they do not hold.
pub fn forget(spec: &mut Spec) {
    fn clear(list: &mut [Member]) {
        for member in list {
            member.offset.0.clear();
            member.mask.0.clear();
            member.errata.clear();
            if let Shape::Inline(_, inner) = &mut member.shape {
                clear(inner);
            }
        }
    }
    for definition in spec.definitions.values_mut() {
        definition.errata.clear();
        if let Body::Aggregate(aggregate) = &mut definition.body {
            aggregate.size.0.clear();
            clear(&mut aggregate.members);
        }
    }
}
