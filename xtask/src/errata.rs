//! What the documents say otherwise, in a list.

use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::{Body, Erratum, Member, Shape};

/// Every erratum, with its structure, member, and place in the specs.
pub fn list(layouts: &Layouts) -> Vec<String> {
    let mut list = Vec::new();
    for definition in layouts.spec.definitions.values() {
        let name = &definition.name.value;
        add(layouts, name, &definition.errata, &mut list);
        match &definition.body {
            Body::Aggregate(aggregate) => members(layouts, name, &aggregate.members, &mut list),
            Body::Values(values) => {
                for constant in &values.constants {
                    add(layouts, &format!("{name}.{}", constant.name.value), &constant.errata, &mut list);
                }
            }
        }
    }
    list
}

fn members(layouts: &Layouts, path: &str, members: &[Member], list: &mut Vec<String>) {
    for member in members {
        let own = match &member.name {
            Some(name) => format!("{path}.{}", name.value),
            None => path.to_owned(),
        };
        add(layouts, &own, &member.errata, list);
        if let Shape::Inline(_, inner) = &member.shape {
            self::members(layouts, &own, inner, list);
        }
    }
}

fn add(layouts: &Layouts, name: &str, errata: &[Erratum], list: &mut Vec<String>) {
    for erratum in errata {
        let place = layouts.spec.sources.place(erratum.span);
        list.push(format!("{name}, {}  {place}", erratum.sentence(&layouts.spec.axis)));
    }
}
