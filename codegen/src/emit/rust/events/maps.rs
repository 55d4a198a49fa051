//! Enumerations and flags of fields.

use crate::axis::TargetId;
use crate::emit::rust::Options;
use crate::event::Field;
use crate::spec::{Body, Spec, Values, ValuesKind};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The maps that fields name.
pub(super) fn text(spec: &Spec, options: &Options, payload: &str) -> String {
    let mut names = BTreeSet::new();
    spec.classes.iter().flat_map(|class| &class.events).for_each(|event| used(&event.fields, &mut names));
    let mut out = format!("//! Names of the values of fields.\n//!\n//! {}\n\nuse {payload}::Map;\n", options.header);
    for name in names {
        let Some(definition) = spec.definitions.get(name) else { continue };
        let Body::Values(values) = &definition.body else { continue };
        let kind = if values.kind == ValuesKind::Flags { "flags" } else { "enumeration" };
        let _ = writeln!(out, "\n/// `{name}`.\npub static {name}: Map = Map::{kind}({name:?}, &[");
        let digits = spec.scalars.get(&values.ty.value).map_or(4, |scalar| scalar.size);
        for (value, name) in entries(values) {
            let mask = u64::MAX >> (64 - 8 * digits.clamp(1, 8));
            let _ = writeln!(out, "    ({:#x}, {name:?}),", value as u64 & mask);
        }
        out.push_str("]);\n");
    }
    out
}

fn used<'a>(fields: &'a [Field], names: &mut BTreeSet<&'a str>) {
    for field in fields {
        names.extend(field.values.as_ref().map(|values| values.value.as_str()));
        used(&field.fields, names);
    }
}

/// Values with their names. Of several names of a value, the newest is used. Flags with the most bits come first.
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
    if values.kind == ValuesKind::Flags {
        // A value without bits is not a flag.
        list.retain(|(value, _, _)| *value != 0);
        list.sort_by_key(|(value, _, _)| core::cmp::Reverse(value.count_ones()));
    }
    list.into_iter().map(|(value, name, _)| (value, name)).collect()
}
