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
    let mut list = List { layouts, targets, sentences: Vec::new() };
    let name = &definition.name.value;
    list.add(name, &definition.errata);
    match &definition.body {
        Body::Aggregate(aggregate) => list.members(name, &aggregate.members),
        Body::Values(values) => {
            for constant in &values.constants {
                list.add(&format!("{name}.{}", constant.name.value), &constant.errata);
            }
        }
    }
    list.sentences
}

struct List<'a> {
    layouts: &'a Layouts,
    targets: &'a TargetSet,
    sentences: Vec<String>,
}

impl List<'_> {
    fn members(&mut self, path: &str, members: &[Member]) {
        for member in members {
            let own = match &member.name {
                Some(name) => format!("{path}.{}", name.value),
                None => path.to_owned(),
            };
            self.add(&own, &member.errata);
            if let Shape::Inline(_, inner) = &member.shape {
                self.members(&own, inner);
            }
        }
    }

    fn add(&mut self, name: &str, errata: &[Erratum]) {
        let spec = &self.layouts.spec;
        for erratum in errata.iter().filter(|e| !e.scope.intersection(self.targets).is_empty()) {
            let place = spec.sources.place(erratum.span);
            self.sentences.push(format!("{name}, {}  {place}", erratum.sentence(&spec.axis)));
        }
    }
}
