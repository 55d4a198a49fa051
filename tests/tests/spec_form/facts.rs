//! All facts of specs as text, without positions, and independent of how values are divided into ranges.

use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::spec::*;
use etw_layouts_codegen::{At, Span};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// A line for each fact, and for the axis.
pub fn of(spec: &Spec) -> Vec<String> {
    let mut axis = spec.axis.clone();
    axis.revisions.iter_mut().for_each(|kernel| kernel.span = Span::default());
    axis.updates.iter_mut().for_each(|update| update.span = Span::default());
    axis.comments.clear();
    let mut lines = vec![format!("{axis:?}")];
    for definition in spec.definitions.values() {
        let Definition { name, scope, source, unverifiable, feature, doc, errata, body, comments: _, end: _ } = definition;
        let name = &name.value;
        let facts = format!("{} {feature:?} {} {doc:?} {}", targets(scope), pieces(source), pieces(unverifiable));
        lines.push(format!("{name}: {facts} {}", self::errata(errata)));
        match body {
            Body::Aggregate(Aggregate { kind, size, align, pack, members }) => {
                lines.push(format!("{name}: {kind:?} {} {} {}", pieces(size), pieces(align), pieces(pack)));
                members.iter().for_each(|member| self::member(name, member, &mut lines));
            }
            Body::Values(Values { kind, ty, constants }) => {
                lines.push(format!("{name}: {kind:?} {}", ty.value));
                lines.extend(constants.iter().map(|constant| format!("{name}.{}", self::constant(constant))));
            }
        }
    }
    lines
}

fn member(path: &str, member: &Member, lines: &mut Vec<String>) {
    let Member { name, scope, shape, bits, mask, offset, align, values, leads_to, source, unknown, doc, errata, .. } = member;
    let path = format!("{path}.{}", word(name.as_ref()));
    let numbers = [bits, mask, offset, align].map(pieces).join(" ");
    let links: Vec<_> = leads_to.iter().map(|link| &link.value).collect();
    let words = format!("{} {links:?} {unknown:?} {doc:?}", word(values.as_ref()));
    lines.push(format!("{path}: {} {numbers} {} {words} {}", targets(scope), pieces(source), self::errata(errata)));
    match shape {
        Shape::Type(types) => lines.push(format!("{path}: {}", pieces(types))),
        Shape::Inline(kind, members) => {
            lines.push(format!("{path}: {kind:?} of {}", members.len()));
            members.iter().for_each(|inner| self::member(&path, inner, lines));
        }
    }
}

fn constant(constant: &Constant) -> String {
    let Constant { name, value, scope, guid, source, doc, errata, comments: _ } = constant;
    let facts = format!("{} {} {guid:?} {}", pieces(value), targets(scope), pieces(source));
    format!("{}: {facts} {doc:?} {}", name.value, self::errata(errata))
}

fn errata(errata: &[Erratum]) -> String {
    let one = |erratum: &Erratum| {
        let Erratum { what, scope, checked, document, actual, evidence, note, span: _ } = erratum;
        let said = format!("{what:?} {document:?} {actual:?} {evidence:?} {note:?}");
        format!("{said} {} {}", targets(scope), targets(checked))
    };
    errata.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn pieces<T: Debug>(value: &Piecewise<T>) -> String {
    let by_target =
        value.0.iter().flat_map(|piece| piece.targets.iter().map(|target| (usize::from(target), format!("{:?}", piece.value))));
    let mut runs: Vec<(usize, usize, String)> = Vec::new();
    for (target, value) in by_target.collect::<BTreeMap<_, _>>() {
        match runs.last_mut() {
            Some((_, last, same)) if *last + 1 == target && *same == value => *last = target,
            _ => runs.push((target, target, value)),
        }
    }
    format!("{runs:?}")
}

fn targets(set: &TargetSet) -> String {
    format!("{:?}", set.iter().map(usize::from).collect::<Vec<_>>())
}

fn word(name: Option<&At<String>>) -> &str {
    name.map_or("", |name| &name.value)
}
