//! The files that a change of one spec file can affect. Other files need not be processed again for each mutant.

use etw_layouts_codegen::layouts::{Form, Layouts};
use etw_layouts_codegen::spec::{Definition, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// The effect of changing a file.
pub enum Reach {
    /// All layouts may change: the file contains the version axis or the scalars.
    All,
    /// The file defines one type.
    Some {
        /// The file itself and the files of types that embed the type: their layouts may change.
        changed: BTreeSet<usize>,
        /// The files in `changed`, and the files of all types that they need.
        needed: BTreeSet<usize>,
    },
}

impl Reach {
    /// The part of a spec set that is needed to detect a change.
    pub fn needed(&self, spec: &Spec) -> Spec {
        let Self::Some { needed, .. } = self else { return spec.clone() };
        let is_needed = |definition: &Definition| needed.contains(&file(spec, definition));
        let (within, without): (Vec<_>, Vec<_>) = spec.definitions.iter().partition(|(_, definition)| is_needed(definition));
        Spec {
            sources: spec.sources.clone(),
            axis: spec.axis.clone(),
            scalars: spec.scalars.clone(),
            typedefs: spec.typedefs.clone(),
            // Layouts do not depend on globals or events.
            globals: BTreeMap::new(),
            classes: Vec::new(),
            providers: Vec::new(),
            definitions: within.into_iter().map(|(name, definition)| (name.clone(), definition.clone())).collect(),
            // References of `leads_to` may name one of these types.
            broken: without.into_iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Whether the layout of a type may change.
    pub fn changes(&self, spec: &Spec, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some { changed, .. } => spec.definitions.get(name).is_some_and(|d| changed.contains(&file(spec, d))),
        }
    }
}

/// The effect of changing each file.
pub fn reaches(layouts: &Layouts) -> Vec<Reach> {
    let spec = &layouts.spec;
    let count = spec.sources.files().len();
    let files: BTreeMap<&str, usize> = spec.definitions.iter().map(|(name, d)| (name.as_str(), file(spec, d))).collect();
    let mut needs = vec![BTreeSet::new(); count];
    for layout in &layouts.layouts {
        if let (Form::Aggregate(aggregate), Some(&own)) = (&layout.form, files.get(layout.name.as_str())) {
            needs[own].extend(layouts.used(aggregate).iter().filter_map(|name| files.get(name).copied()));
        }
    }
    let definitions: BTreeSet<usize> = files.values().copied().collect();
    let of = |file| {
        if !definitions.contains(&file) {
            return Reach::All;
        }
        let changed = closure(file, |f| (0..count).filter(|&user| needs[user].contains(&f)).collect());
        let needed = changed.iter().flat_map(|&user| closure(user, |f| needs[f].clone())).collect();
        Reach::Some { changed, needed }
    };
    (0..count).map(of).collect()
}

fn file(spec: &Spec, definition: &Definition) -> usize {
    spec.sources.index(definition.name.span)
}

fn closure(start: usize, next: impl Fn(usize) -> BTreeSet<usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        open.extend(next(file).into_iter().filter(|&file| found.insert(file)));
    }
    found
}
