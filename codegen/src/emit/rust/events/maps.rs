//! Enumerations and flags of fields.

use crate::axis::TargetId;
use crate::emit::rust::docs::braced;
use crate::emit::rust::values::constants;
use crate::emit::rust::{Options, is_macros};
use crate::event::Field;
use crate::spec::{Body, Definition, Spec, Values, ValuesKind};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The maps that fields name. Most have the names and values of their constants, from which the compiler makes them.
pub(super) fn text(spec: &Spec, options: &Options, payload: &str) -> String {
    let mut names = BTreeSet::new();
    spec.classes.iter().flat_map(|class| &class.events).for_each(|event| used(&event.fields, &mut names));
    let mut of_constants = Vec::new();
    let mut others = String::new();
    for name in names {
        let Some(definition) = spec.definitions.get(name) else { continue };
        let Body::Values(values) = &definition.body else { continue };
        let kind = if values.kind == ValuesKind::Flags { "flags" } else { "enumeration" };
        let entries = entries(values);
        if has_constants(spec, definition, values, &entries) {
            of_constants.push(format!("{kind} {name}"));
            continue;
        }
        let _ = writeln!(others, "\n/// `{name}`.\npub static {name}: Map = Map::{kind}({name:?}, &[");
        let digits = spec.scalars.get(&values.ty.value).map_or(4, |scalar| scalar.size);
        for (value, name) in entries {
            let mask = u64::MAX >> (64 - 8 * digits.clamp(1, 8));
            let _ = writeln!(others, "    ({:#x}, {name:?}),", value as u64 & mask);
        }
        others.push_str("]);\n");
    }
    let of_constants = braced("crate::value_maps::maps! ", &of_constants, 0);
    format!("//! Names of the values of fields.\n//!\n//! {}\n\nuse {payload}::Map;\n\n{of_constants}\n{others}", options.header)
}

/// Whether the constants in Rust have the names and values of a map.
fn has_constants(spec: &Spec, definition: &Definition, values: &Values, entries: &[(i64, &str)]) -> bool {
    let own = constants(&spec.axis, values);
    let mut own: Vec<_> = own.iter().map(|(name, _, piece)| (piece.value, name.as_str())).collect();
    in_order(values.kind, &mut own);
    // The bits of a negative flag are counted in another width.
    is_macros(definition) && own == *entries && own.iter().all(|(value, _)| *value >= 0)
}

fn used<'a>(fields: &'a [Field], names: &mut BTreeSet<&'a str>) {
    for field in fields {
        names.extend(field.values.as_ref().map(|values| values.value.as_str()));
        used(&field.fields, names);
    }
}

/// Values with their names. Of several names of a value, the newest is used.
fn entries(values: &Values) -> Vec<(i64, &str)> {
    let mut list: Vec<(i64, &str, Option<TargetId>)> = Vec::new();
    for constant in &values.constants {
        for piece in &constant.value.0 {
            let last = piece.targets.iter().last();
            match list.iter_mut().find(|(value, _, _)| *value == piece.value) {
                Some(known) if known.2 < last => *known = (piece.value, &constant.name.value, last),
                Some(_) => {}
                None => list.push((piece.value, &constant.name.value, last)),
            }
        }
    }
    let mut list = list.into_iter().map(|(value, name, _)| (value, name)).collect();
    in_order(values.kind, &mut list);
    list
}

/// Flags with the most bits come first. A value without bits is not a flag.
fn in_order(kind: ValuesKind, entries: &mut Vec<(i64, &str)>) {
    if kind == ValuesKind::Flags {
        entries.retain(|(value, _)| *value != 0);
        entries.sort_by_key(|(value, _)| core::cmp::Reverse(value.count_ones()));
    }
}
