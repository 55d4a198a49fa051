//! The Cargo features of a definition: its own, and those of all structures that embed it.

use super::Emitter;
use crate::layouts::{Form, Layouts};
use crate::spec::Body;
use std::collections::{BTreeMap, BTreeSet};

/// For each definition, the features of the structures that need it.
pub(super) type Features = BTreeMap<String, BTreeSet<String>>;

/// The features of each structure and enumeration. Structures whose specs name no feature get `other`. Flags and constants need
/// no feature.
pub(super) fn features(layouts: &Layouts, other: &str) -> Features {
    let mut features = Features::new();
    for (name, definition) in
        layouts.spec.definitions.iter().filter(|(_, definition)| matches!(definition.body, Body::Aggregate(_)))
    {
        let own = if definition.feature.is_empty() { other } else { &definition.feature };
        let mut names = vec![name.as_str()];
        while let Some(name) = names.pop() {
            if !features.entry(name.to_owned()).or_default().insert(own.to_owned()) {
                continue;
            }
            for layout in layouts.layouts.iter().filter(|layout| layout.name == name) {
                if let Form::Aggregate(aggregate) = &layout.form {
                    names.extend(layouts.used(aggregate));
                }
            }
        }
    }
    for (name, definition) in &layouts.spec.definitions {
        if super::is_macros(definition) {
            features.remove(name);
        } else {
            let own = features.entry(name.clone()).or_default();
            if own.is_empty() {
                own.insert(other.to_owned());
            }
        }
    }
    features
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
