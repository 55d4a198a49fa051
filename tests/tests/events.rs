//! Every event in a source has a spec, or a reason why it has none.

use etw_layouts_codegen::spec::Body;
use etw_layouts_project::events::{catalog, verify};
use std::collections::BTreeSet;
use tests::project;

/// Events without a spec, each with the reason: the class or structure and the type in a source, or the constant of a hook.
const WITHOUT: &[(&str, &str)] = &[];

/// Each (class, type, version) in the tables of `facts/events` has a spec, and so has each hook with a structure in a table.
#[test]
fn every_stated_event_has_a_spec() {
    let layouts = project().layouts().expect("the specs");
    let statements = project().statements().expect("the facts of events");
    assert!(statements.list.len() > 900, "{} statements", statements.list.len());
    let report = verify(&layouts.spec, &statements);
    let missing = report.differences.iter().filter(|difference| difference.spec == "no such event");
    let missing: Vec<_> = missing.map(|difference| difference.line()).filter(|line| !is_explained(line)).collect();
    assert!(missing.is_empty(), "without a spec:\n{}", missing.join("\n"));
}

/// Each constant of `HOOK_ID` has a spec, or is listed in `specs/events/README.md` as a hook without a described payload. No hook
/// has both, and no listed hook has a structure in its description.
#[test]
fn every_hook_has_a_spec_or_is_listed() {
    let layouts = project().layouts().expect("the specs");
    let spec = &layouts.spec;
    let mut known = BTreeSet::new();
    for event in catalog::all(spec) {
        if let Some((_, group)) = catalog::group(spec, event) {
            known.insert(i64::from(group) << 8 | i64::from(event.ty.number));
        }
    }
    let page = std::fs::read_to_string(project().root.join("specs/events/README.md")).expect("the page of event specs");
    let (_, list) = page.split_once("## Hooks with unknown payload").expect("the list of hooks");
    let listed: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    let Body::Values(hooks) = &spec.definitions["HOOK_ID"].body else { panic!("HOOK_ID are constants") };
    assert!(hooks.constants.len() > 500, "{} hooks", hooks.constants.len());
    let wrong: Vec<_> = (hooks.constants.iter())
        .filter(|hook| {
            known.contains(&hook.value.0[0].value) == listed.contains(hook.name.value.as_str())
                || hook.doc.contains("Data: ") && listed.contains(hook.name.value.as_str())
        })
        .map(|hook| hook.name.value.as_str())
        .collect();
    assert!(wrong.is_empty(), "neither specified nor listed, or both: {}", wrong.join(", "));
}

fn is_explained(what: &str) -> bool {
    WITHOUT.iter().any(|(without, reason)| what.starts_with(without) && !reason.is_empty())
}
