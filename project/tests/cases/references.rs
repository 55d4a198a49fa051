//! References between the structures of the project's own specs.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::{Form, Type};
use etw_layouts_project::Project;
use std::collections::BTreeSet;
use std::path::Path;

/// Public symbols contain a type only while something embeds it. Where a structure still points to a type of an earlier build, the type
/// still exists: its range stays open, and `unverifiable` states that the symbols lack it.
#[test]
fn a_type_exists_while_it_is_referred_to() {
    let project = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let layouts = project.layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let mut ended = BTreeSet::new();
    let is_ended = |name: &str, target: TargetId| {
        let is_earlier = |other: &TargetId| *other < target && axis.targets[*other].arch == axis.targets[target].arch;
        let has = |other: TargetId| layouts.by_target[other].contains_key(name);
        !has(target) && axis.targets.ids().filter(is_earlier).any(has)
    };
    for layout in &layouts.layouts {
        let Form::Aggregate(aggregate) = &layout.form else { continue };
        let mut found = Vec::new();
        aggregate.fields.iter().for_each(|field| named(&field.ty, &mut found));
        for name in found {
            let missing = layout.targets.iter().find(|&target| is_ended(name, target));
            ended.extend(missing.map(|target| format!("{} refers to {name} in {}", layout.name, axis.target_name(target))));
        }
    }
    assert!(ended.is_empty(), "{ended:#?}");
}

/// The types that a type names and does not embed.
fn named<'a>(ty: &'a Type, found: &mut Vec<&'a str>) {
    match ty {
        Type::Named(name) => found.push(name),
        Type::Pointer { to: inner, .. } | Type::Array { of: inner, .. } => named(inner, found),
        Type::Inline(aggregate) => aggregate.fields.iter().for_each(|field| named(&field.ty, found)),
        _ => {}
    }
}
