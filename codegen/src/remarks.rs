//! Remarks on a user's specs: they are valid, but probably incomplete or misspelt.

use crate::axis::{Arch, TargetSet};
use crate::diagnostic::is_misspelt;
use crate::layouts::Layouts;
use crate::source::{At, standard_types};
use crate::spec::{Aggregate, Body, Definition, Member, Shape};
use std::collections::BTreeMap;

/// The remarks on the selected structures and unions of a user, on all if none is selected; each with its place. Specs that name a
/// source are verified against it, so they get none.
pub(crate) fn remarks(layouts: &Layouts, selected: &[String]) -> Vec<At<String>> {
    let mut list = Vec::new();
    let definitions = layouts.spec.definitions.iter();
    for (_, definition) in definitions.filter(|(name, _)| selected.is_empty() || selected.contains(name)) {
        let is_standard = layouts.spec.sources.file(definition.name.span).standard;
        if let (Body::Aggregate(aggregate), true, false) = (&definition.body, definition.source.is_empty(), is_standard) {
            list.extend(without_size(layouts, definition, aggregate));
            pointers(layouts, &aggregate.members, &mut list);
        }
    }
    list
}

fn without_size(layouts: &Layouts, definition: &Definition, aggregate: &Aggregate) -> Option<At<String>> {
    let name = &definition.name.value;
    let mut sizes: BTreeMap<u64, TargetSet> = BTreeMap::new();
    for layout in layouts.layouts.iter().filter(|layout| layout.name == *name) {
        let set = sizes.entry(layout.extent().size).or_default();
        *set = set.union(&layout.targets);
    }
    let size = |(size, targets): (&u64, &TargetSet)| {
        let scope = layouts.spec.axis.spell(&definition.scope, targets).to_string();
        match scope.parse::<Arch>() {
            _ if *targets == definition.scope => format!("{size:#x}"),
            Ok(arch) => format!("{arch} = {size:#x}"),
            Err(_) => format!("{scope:?} = {size:#x}"),
        }
    };
    let list = sizes.iter().map(size).collect::<Vec<_>>().join(", ");
    let list = if sizes.len() == 1 { list } else { format!("{{ {list} }}") };
    let message = format!(
        "`{name}` has no `size`, so a missing member at its end is not detected; compare `sizeof({name})` of the driver, and add `size = {list}`"
    );
    aggregate.size.is_empty().then(|| At::new(message, definition.name.span))
}

/// Targets of pointers that are similar to a known type. Other unknown targets are correct: an address needs no type.
fn pointers(layouts: &Layouts, members: &[Member], list: &mut Vec<At<String>>) {
    let spec = &layouts.spec;
    for member in members {
        let types = match &member.shape {
            Shape::Inline(_, members) => {
                pointers(layouts, members, list);
                continue;
            }
            Shape::Type(types) => types,
        };
        for piece in &types.0 {
            for name in piece.value.names() {
                let own = spec.definitions.keys().chain(spec.scalars.keys()).chain(spec.typedefs.keys()).map(String::as_str);
                let mut known = own.chain(standard_types());
                if !known.clone().any(|known| known == name)
                    && let Some(near) = known.find(|known| is_misspelt(name, known))
                {
                    list.push(At::new(format!("unknown type `{name}` behind a pointer; did you mean `{near}`?"), piece.span));
                }
            }
        }
    }
}
