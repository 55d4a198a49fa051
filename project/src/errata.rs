//! Errata: statements of published references that differ from the layouts.

use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::{Body, Definition, Erratum, Member, Piecewise, Shape};

/// All errata, or those of one definition, each with its structure, member, and place in the specs.
pub fn list(layouts: &Layouts, only: Option<&str>) -> Vec<String> {
    let all = layouts.spec.axis.all();
    let wanted = layouts.spec.definitions.values().filter(|definition| only.is_none_or(|only| definition.name.value == only));
    wanted.flat_map(|definition| of(layouts, definition, &all)).collect()
}

/// The errata of a definition that apply to any of the targets.
pub fn of(layouts: &Layouts, definition: &Definition, targets: &TargetSet) -> Vec<String> {
    let spec = &layouts.spec;
    let own = stated(definition).into_iter().filter(|(_, erratum)| !erratum.scope.intersection(targets).is_empty());
    let sentence = |(about, erratum): (String, &Erratum)| {
        format!("{about}, {}  {}", erratum.sentence(&spec.axis), spec.sources.place(erratum.span))
    };
    own.map(sentence).collect()
}

/// The errata of a definition, each with its subject: the definition, or a member or constant, as in `STRUCTURE.u.LowPart`.
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

/// The number of sizes, offsets and masks in published references that agree with the layouts. Each one is asserted in the specs,
/// and is counted once per target that published references cover. A number that disagrees is an error in the specs.
pub fn agreeing(layouts: &Layouts) -> usize {
    let documented = &layouts.spec.axis.documented;
    let of = |definition: &Definition| match &definition.body {
        Body::Aggregate(aggregate) => {
            let scope = definition.scope.intersection(documented);
            count(&aggregate.size, &scope) + numbers(&aggregate.members, &scope)
        }
        Body::Values(_) => 0,
    };
    layouts.spec.definitions.values().map(of).sum()
}

fn numbers(members: &[Member], scope: &TargetSet) -> usize {
    let of = |member: &Member| {
        let scope = member.scope.intersection(scope);
        let inner = match &member.shape {
            Shape::Inline(_, inner) => numbers(inner, &scope),
            Shape::Type(_) => 0,
        };
        count(&member.offset, &scope) + count(&member.mask, &scope) + inner
    };
    members.iter().map(of).sum()
}

fn count(stated: &Piecewise<u64>, scope: &TargetSet) -> usize {
    stated.0.iter().map(|piece| piece.targets.intersection(scope).iter().count()).sum()
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
