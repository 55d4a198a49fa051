//! Events: every event that a source states has a spec, or a reason why it has none.

use etw_layouts_codegen::spec::Body;
use etw_layouts_project::events::{catalog, verify};
use std::collections::BTreeMap;
use tests::project;

/// Events without a spec, each with the reason: the class or structure and type of a source, or the constant of a hook.
const WITHOUT: &[(&str, &str)] = &[];

/// Each (class, type, version) of the tables in `facts/events`, and each hook that a table gives a structure, has a spec.
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

/// Each constant of `HOOK_ID` whose words name a structure has a spec.
#[test]
fn every_hook_with_a_structure_has_a_spec() {
    let layouts = project().layouts().expect("the specs");
    let spec = &layouts.spec;
    let mut known: BTreeMap<u16, String> = BTreeMap::new();
    for event in catalog::all(spec) {
        if let Some((_, group)) = catalog::group(spec, event) {
            known.insert(u16::from(group) << 8 | u16::from(event.ty.number), event.name());
        }
    }
    let Body::Values(hooks) = &spec.definitions["HOOK_ID"].body else { panic!("HOOK_ID are constants") };
    let with_structure: Vec<_> = hooks.constants.iter().filter(|hook| hook.doc.contains("Data: ")).collect();
    assert!(with_structure.len() > 40, "{} hooks", with_structure.len());
    let missing = with_structure.into_iter().filter(|hook| !known.contains_key(&(hook.value.0[0].value as u16)));
    let missing: Vec<_> = missing.map(|hook| hook.name.value.as_str()).filter(|name| !is_explained(name)).collect();
    assert!(missing.is_empty(), "without a spec: {}", missing.join(", "));
}

fn is_explained(what: &str) -> bool {
    WITHOUT.iter().any(|(without, reason)| what.starts_with(without) && !reason.is_empty())
}
