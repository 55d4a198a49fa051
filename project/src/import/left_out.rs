//! Types of complete tables that specs cannot define.

use super::types::{definable, shown, spellable, spelled};
use crate::tables::BuildTable;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_symbols::{Type, TypeFacts};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Removes types that specs cannot define from tables, and types that depend on them. Returns the reason for each.
pub fn leave_out(tables: &mut [BuildTable], spec: &Spec) -> BTreeSet<String> {
    let is_scalar = |name: &str| spec.scalars.contains_key(name) || spec.typedefs.contains_key(name);
    let mut reasons: BTreeMap<String, String> = BTreeMap::new();
    let mut holders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut spellings: BTreeMap<String, &str> = BTreeMap::new();
    for (name, facts) in tables.iter().flat_map(|table| table.types.iter()) {
        let twin = *spellings.entry(name.to_ascii_lowercase()).or_insert(name.as_str());
        let mut names = Named::default();
        names.of_definition(facts);
        let unspelled = names.behind_pointers.iter().find(|to| spelled(to).is_err() || is_scalar(to));
        names.by_value.iter().for_each(|held| holders.entry(held).or_default().push(name));
        let reason = match definable(name).and_then(|()| spellable(facts).map_err(|error| format!("`{name}`: {error}"))) {
            Err(reason) => reason,
            Ok(()) if is_scalar(name) => format!("`{name}` is the name of a scalar type"),
            Ok(()) if twin != name => format!("`{name}` and `{twin}` differ only in case, and would have the same file name"),
            Ok(()) => match unspelled {
                Some(to) => format!("`{name}` has a pointer to `{}`, which is left out", shown(to)),
                None => continue,
            },
        };
        reasons.insert(name.clone(), reason);
    }
    let mut pending: Vec<String> = reasons.keys().cloned().collect();
    while let Some(held) = pending.pop() {
        for holder in holders.remove(held.as_str()).unwrap_or_default() {
            if !reasons.contains_key(holder) {
                reasons.insert(holder.to_owned(), format!("`{holder}` embeds `{}`, which is left out", shown(&held)));
                pending.push(holder.to_owned());
            }
        }
    }
    for table in tables {
        Arc::make_mut(&mut table.types).retain(|name, _| !reasons.contains_key(name));
    }
    reasons.into_values().collect()
}

/// The types that a definition refers to.
#[derive(Default)]
struct Named<'a> {
    by_value: Vec<&'a str>,
    behind_pointers: Vec<&'a str>,
}

impl<'a> Named<'a> {
    fn of_definition(&mut self, facts: &'a TypeFacts) {
        if let TypeFacts::Aggregate(aggregate) = facts {
            aggregate.members.iter().for_each(|member| self.of_type(&member.ty, false));
        }
    }

    fn of_type(&mut self, ty: &'a Type, is_behind_pointer: bool) {
        match ty {
            Type::Aggregate(name) | Type::Enumeration(name) if is_behind_pointer => self.behind_pointers.push(name),
            Type::Aggregate(name) | Type::Enumeration(name) => self.by_value.push(name),
            Type::Pointer(to) => self.of_type(to, true),
            Type::Array(of, _) | Type::Bits { unit: of, .. } => self.of_type(of, is_behind_pointer),
            Type::Unnamed(facts) => self.of_definition(facts),
            _ => {}
        }
    }
}
