//! Comparison of imported specs with the original ones.

use super::*;
use etw_layouts_codegen::layouts::{Aggregate, Field, Type};
use etw_layouts_codegen::spec::{Kind, Member, Provenance, Shape};
use etw_layouts_symbols::compare::Difference;

/// Imports tables, and compares the result with the original specs.
pub fn back(before: &Texts, known: &[BuildTable], new: &[BuildTable], truth: &Layouts) {
    // Types that nothing embeds and no other build has must be requested.
    let old = layouts(before).spec.definitions;
    let held = |name: &&String| new.iter().any(|table| table.types.contains_key(*name));
    let added: Vec<String> =
        truth.spec.definitions.keys().filter(|name| !old.contains_key(*name)).filter(held).cloned().collect();
    let input = Input { texts: before, known, new, added: &added, folder: "specs" };
    let after = plan(&input).unwrap_or_else(|error| panic!("{error}"));
    if let Err(error) = verified(&after.layouts, known, new) {
        // The specs do not state that the tables of a build lack a type if older and newer tables have it. The newer tables are
        // removed here, so these errors were there before.
        let old = verified(&layouts(before), known, &[]).err().map(|error| error.to_string()).unwrap_or_default();
        let error = error.to_string();
        assert!(error.lines().all(|line| old.lines().any(|other| other == line)), "{error}");
    }
    let axis = &after.layouts.spec.axis;
    for (target, at) in axis.targets.iter() {
        let build = axis.revisions[at.revision].build;
        let place = find(&truth.spec.axis, build, at.arch).expect("on the axis");
        let rules = new.iter().find(|t| (t.build, t.arch) == (build, at.arch)).map(|t| Rules::for_producer(&t.producer));
        let (ours, theirs) = (facts(&after.layouts, target), facts(truth, place));
        let reports = compare(&theirs, &ours, rules.unwrap_or(Rules::Faithful));
        let lost = |d: &&Difference| !(rules == Some(Rules::Converted) && SHARED.contains(&d.member.as_str()));
        let differences: Vec<_> = reports.iter().flat_map(|report| report.differences.iter().filter(lost)).collect();
        assert!(differences.is_empty(), "{}: {differences:?}", axis.target_name(target));
        // The specs can have a type that only the symbols of older and newer builds contain. An import removes it or marks it.
        let unsure = |name: &&String| new.iter().any(|table| table.build == build && !table.types.contains_key(*name));
        let others: Vec<_> =
            ours.keys().collect::<BTreeSet<_>>().symmetric_difference(&theirs.keys().collect()).copied().collect();
        let others: Vec<_> = others.into_iter().filter(|name| !unsure(name)).collect();
        assert!(others.is_empty(), "{}: different types: {others:?}", axis.target_name(target));
    }
    unneeded(before, &after);
    kept(before, &after);
    nested(&after, truth, new);
}

/// Comments and entries stay, in their order.
fn kept(before: &Texts, after: &Plan) {
    for (path, old) in before {
        let Some(new) = after.texts.get(path) else { panic!("{path} is gone") };
        let marks = |text: &str| -> Vec<String> {
            let comments = text.lines().filter(|line| line.trim_start().starts_with('#')).map(str::to_owned);
            let names = text
                .split(['{', '\n'])
                .filter(|part| part.trim_start().starts_with("name "))
                .map(|part| part.trim_start().split('"').nth(1).unwrap_or_default().to_owned());
            comments.chain(names).collect()
        };
        let new = marks(new);
        let mut rest = new.iter();
        let lost = marks(old).into_iter().find(|mark| !rest.any(|other| other == mark));
        assert!(lost.is_none(), "{path}: {lost:?} is missing or moved");
    }
}

/// If unnamed structures and unions differ from the original, the spec marks them as inferred. The order of alternatives does not
/// matter. Types that no symbols contain are not compared.
fn nested(after: &Plan, truth: &Layouts, new: &[BuildTable]) {
    /// The groups of an aggregate. An unnamed group of one member, or an unnamed structure within a structure, does not count.
    fn groups(aggregate: &Aggregate, base: u64, within: Kind) -> Vec<String> {
        let kind = if aggregate.fields.len() == 1 { within } else { aggregate.kind };
        let field = |field: &Field| match (&field.ty, field.name.as_deref()) {
            (Type::Inline(inner), None) => groups(inner, base + field.offset, kind),
            (Type::Inline(inner), Some(name)) => vec![format!("{name} {:?}", groups(inner, 0, Kind::Union))],
            (_, name) => vec![format!("{}@{}", name.unwrap_or_default(), base + field.offset)],
        };
        let mut list: Vec<_> = aggregate.fields.iter().flat_map(field).collect();
        if kind == Kind::Union {
            list.sort();
        }
        match kind == within {
            true => list,
            false => vec![format!("{:?} ({})", aggregate.kind, list.join(", "))],
        }
    }
    let of = |layouts: &Layouts, target, name| match layouts.get(target, name).map(|layout| &layout.form) {
        Some(Form::Aggregate(aggregate)) => groups(aggregate, 0, aggregate.kind).join(", "),
        _ => String::new(),
    };
    for table in new {
        let [ours, theirs] = [&after.layouts, truth].map(|l| l.spec.axis.at(table.build, table.arch).expect("on the axis"));
        for name in after.layouts.by_target[ours].keys().filter(|name| table.types.contains_key(*name)) {
            let (ours, theirs) = (of(&after.layouts, ours, name), of(truth, theirs, name));
            let place = after.layouts.spec.definitions[name].name.span;
            let text = &after.layouts.spec.sources.file(place).text;
            let is_marked = ours == theirs || text.contains(unions::TOGETHER);
            assert!(
                is_marked,
                "{}-{} {name} is not marked as inferred, but has\n{ours}\nand not\n{theirs}",
                table.build, table.arch
            );
        }
    }
}

/// If the existing ranges of a file are right for the new build, the import does not change the file.
fn unneeded(before: &Texts, after: &Plan) {
    let axis = after.texts.iter().filter(|(path, _)| path.ends_with("windows.toml"));
    let texts: Texts = before.iter().chain(axis).map(|(path, text)| (path.clone(), text.clone())).collect();
    // If a range ends before the new build, the specs can be incomplete for it, and there is nothing to compare.
    let Ok(inherited) = texts::layouts(&texts) else { return };
    for definition in inherited.spec.definitions.values() {
        let name = definition.name.value.as_str();
        let path = &inherited.spec.sources.file(definition.name.span).path;
        let evidence_of = |layouts: &Layouts, target| {
            let why = layouts.unverifiable(name, target).map(str::to_owned);
            let mut sources = Vec::new();
            if let Some(Body::Aggregate(aggregate)) = layouts.spec.definitions.get(name).map(|definition| &definition.body) {
                self::sources(&aggregate.members, target, &mut sources);
            }
            (verify::ours::types(layouts, target, &[name]), why, sources)
        };
        let right = after.new.iter().all(|&target| evidence_of(&inherited, target) == evidence_of(&after.layouts, target));
        let [old, new] = [before, &after.texts].map(|texts| texts.get(path));
        assert!(!right || old == new, "{path} changed needlessly:\n{}", diff(before, &after.texts));
    }
}

/// The sources that the members themselves state.
fn sources(members: &[Member], target: TargetId, found: &mut Vec<Option<Provenance>>) {
    for member in members.iter().filter(|member| member.scope.contains(target)) {
        found.push(member.source.get(target).map(|piece| piece.value));
        if let Shape::Inline(_, members) = &member.shape {
            sources(members, target, found);
        }
    }
}

/// Constants that share their value with another; a converted table has only one of them.
const SHARED: [&str; 4] =
    ["NonPagedPoolExecute", "EventProviderSetEnableAllKeywords", "EventProviderSetReserved1", "ETW_STRING_TOKEN_CONTAINER"];
