//! Event specs, compared with the statements of sources.

use super::{Case, run};
use etw_layouts_project::Error;
use etw_layouts_project::events::{catalog, verify};
use std::fmt::Write;

#[test]
fn events_of_small_projects() {
    run("events", |case| answer(case).unwrap_or_else(|error| format!("error: {error}\n")));
}

fn answer(case: &Case) -> Result<String, Error> {
    let project = case.project();
    let layouts = project.layouts()?;
    let statements = project.statements()?;
    let report = verify(&layouts.spec, &statements);
    let mut text = String::new();
    for (source, of) in &report.sources {
        let (events, fields, errata, unsettled, differences) = (of.events, of.fields, of.errata, of.unsettled, of.differences);
        writeln!(
            text,
            "{source}: {events} events, {fields} fields agree, {errata} errata, {unsettled} unsettled, {differences} differ"
        )?;
    }
    report.errata.iter().for_each(|line| text += &format!("erratum: {line}\n"));
    report.differences.iter().for_each(|finding| text += &format!("{}\n", finding.line()));
    assert_eq!(report.differs(), !report.differences.is_empty());
    assert!(!statements.has("no source") && report.sources.keys().all(|source| statements.has(source)));
    for known in catalog::all(&layouts.spec) {
        let group = catalog::group(&layouts.spec, known).map(|(name, number)| format!(" {name} {number}")).unwrap_or_default();
        for version in known.event.versions_of(known.ty).iter() {
            let sources = catalog::sources(&layouts.spec, &statements, known, version);
            let (name, number, guid) = (known.name(), known.ty.number, catalog::guid(&layouts.spec, known));
            writeln!(text, "{name} {number} version {version}, {guid}{group}: {}", sources.join(", "))?;
            for field in catalog::placed(known, version) {
                let offset = field.offset.map(|[four, eight]| format!("{four}/{eight} ")).unwrap_or_default();
                writeln!(text, "{}{offset}{}", "  ".repeat(field.depth + 1), field.field.name.value)?;
            }
        }
    }
    for name in case.values("find") {
        let found = catalog::find(&layouts.spec, name);
        let found = found.map(|list| list.iter().map(|known| known.name()).collect::<Vec<_>>().join(", "));
        writeln!(text, "{name}: {}", found.unwrap_or_else(|error| error.to_string()))?;
    }
    Ok(text)
}
