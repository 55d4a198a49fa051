//! The Cargo features of generated types: one for each structure, and groups of them.

use super::Emitter;
use super::docs::braced;
use super::names::module;
use crate::layouts::{Form, Layouts};
use crate::spec::Body;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// For each definition, the features that include it: a structure has its own, an enumeration those of the structures that use it.
pub(super) type Features = BTreeMap<String, BTreeSet<String>>;

/// The features of each structure and enumeration. An enumeration that no structure uses gets `other`. Flags and constants need no feature.
pub(super) fn features(layouts: &Layouts, other: &str) -> Features {
    let mut features = Features::new();
    for (name, definition) in layouts.spec.definitions.iter().filter(|(_, definition)| !super::is_macros(definition)) {
        let own = features.entry(name.clone()).or_default();
        if matches!(definition.body, Body::Aggregate(_)) {
            own.insert(module(name));
        }
        for used in used(layouts, name) {
            features.entry(used.to_owned()).or_default().insert(module(name));
        }
    }
    features.retain(|name, own| {
        match &layouts.spec.definitions[name].body {
            Body::Aggregate(_) => *own = BTreeSet::from([module(name)]),
            _ if own.is_empty() => _ = own.insert(other.to_owned()),
            _ => {}
        }
        !super::is_macros(&layouts.spec.definitions[name])
    });
    features
}

/// The features as a part of Cargo.toml. First the groups: a structure whose spec names no group is in the group `other`. Then a feature for each
/// structure, with the features of the structures that it embeds. Each of them enables the feature `targets`.
pub fn manifest(layouts: &Layouts, other: &str) -> String {
    let structures = layouts.spec.definitions.iter().filter(|(_, definition)| matches!(definition.body, Body::Aggregate(_)));
    let mut groups: BTreeMap<&str, BTreeSet<String>> = BTreeMap::from([(other, BTreeSet::new())]);
    let mut own = BTreeMap::new();
    for (name, definition) in structures {
        let group = if definition.feature.is_empty() { other } else { &definition.feature };
        groups.entry(group).or_default().insert(module(name));
        let embedded =
            used(layouts, name).into_iter().filter(|used| matches!(layouts.spec.definitions[*used].body, Body::Aggregate(_)));
        let mut embedded: BTreeSet<_> = embedded.map(module).collect();
        if embedded.is_empty() {
            embedded.insert("targets".to_owned());
        }
        own.insert(module(name), embedded);
    }
    let mut text = String::new();
    let groups = groups.into_iter().map(|(name, list)| (name.to_owned(), list));
    for (name, list) in groups.chain(own) {
        let list: Vec<_> = list.iter().map(|feature| format!("{feature:?}")).collect();
        let braces = braced(&format!("{name} = "), &list, 0);
        let _ = writeln!(text, "{}", braces.replace('{', "[").replace('}', "]"));
    }
    text
}

/// The structures and enumerations that the layouts of a structure contain.
fn used<'a>(layouts: &'a Layouts, name: &str) -> BTreeSet<&'a str> {
    let own = layouts.layouts.iter().filter(|layout| layout.name == name);
    let aggregates = own.filter_map(|layout| match &layout.form {
        Form::Aggregate(aggregate) => Some(aggregate),
        Form::Enumeration(_) => None,
    });
    let used = aggregates.flat_map(|aggregate| layouts.used(aggregate));
    used.filter(|used| *used != name && layouts.spec.definitions.get(*used).is_some_and(|own| !super::is_macros(own))).collect()
}

impl Emitter<'_> {
    /// The attribute for an item of a definition, followed by a space; empty if it needs no feature.
    pub(super) fn cfg(&self, definition: &str) -> String {
        let list = self.features.get(definition).into_iter().flatten().map(|name| format!("feature = {name:?}"));
        match &list.collect::<Vec<_>>()[..] {
            [] => String::new(),
            [one] => format!("#[cfg({one})] "),
            several => format!("#[cfg(any({}))] ", several.join(", ")),
        }
    }
}
