//! What the documents say otherwise, in a list.

use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::{Body, Definition, Erratum, Member, Shape};

/// Every erratum, or those of one definition, with its structure, member, and place in the specs.
pub fn list(layouts: &Layouts, only: Option<&str>) -> Vec<String> {
    let all = layouts.spec.axis.all();
    let wanted = layouts.spec.definitions.values().filter(|definition| only.is_none_or(|only| definition.name.value == only));
    wanted.flat_map(|definition| of(layouts, definition, &all)).collect()
}

/// The errata of a definition that speak of any of the targets.
pub fn of(layouts: &Layouts, definition: &Definition, targets: &TargetSet) -> Vec<String> {
    let spec = &layouts.spec;
    let own = stated(definition).into_iter().filter(|(_, erratum)| !erratum.scope.intersection(targets).is_empty());
    let sentence = |(about, erratum): (String, &Erratum)| {
        format!("{about}, {}  {}", erratum.sentence(&spec.axis), spec.sources.place(erratum.span))
    };
    own.map(sentence).collect()
}

/// The errata of a definition, each with what it is about: the definition, or a member or constant, as in `STRUCTURE.u.LowPart`.
pub fn stated(definition: &Definition) -> Vec<(String, &Erratum)> {
    let name = &definition.name.value;
    let mut list = about(name, &definition.errata);
    match &definition.body {
        Body::Aggregate(aggregate) => of_members(name, &aggregate.members, &mut list),
        Body::Values(values) => {
            for constant in &values.constants {
                list.extend(about(&format!("{name}.{}", constant.name.value), &constant.errata));
            }
        }
    }
    list
}

fn of_members<'a>(path: &str, members: &'a [Member], list: &mut Vec<(String, &'a Erratum)>) {
    for member in members {
        let own = match &member.name {
            Some(name) => format!("{path}.{}", name.value),
            None => path.to_owned(),
        };
        list.extend(about(&own, &member.errata));
        if let Shape::Inline(_, inner) = &member.shape {
            of_members(&own, inner, list);
        }
    }
}

fn about<'a>(name: &str, errata: &'a [Erratum]) -> Vec<(String, &'a Erratum)> {
    errata.iter().map(|erratum| (name.to_owned(), erratum)).collect()
}
