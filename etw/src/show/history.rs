//! The history of a structure, as text and as JSON.

use crate::object::object;
use crate::print::{DIM, HEADING};
use crate::target::windows;
use crate::text_table;
use anstyle::Style;
use etw_layouts_codegen::axis::{Arch, Axis};
use etw_layouts_codegen::layouts::{Bits, Layouts};
use etw_layouts_codegen::spec::Body;
use etw_layouts_project::history::{History, Stage, TargetFact};
use serde::Serialize;

/// The history as text.
pub fn text(history: &History, layouts: &Layouts) -> String {
    let axis = &layouts.spec.axis;
    // Omit an architecture that was not selected, or that never had the structure.
    let shown = Arch::ALL.map(|arch| history.targets.iter().any(|target| axis.targets[target].arch == arch));
    let mut rows = Vec::new();
    let sized = (!is_values(history, layouts)).then_some(("size", &history.sizes));
    for (name, stages) in sized.into_iter().chain(history.members.iter().map(|(name, stages)| (name.as_str(), stages))) {
        rows.push(text_table::Row { style: HEADING, cells: vec![name.to_owned()] });
        rows.extend(stages.iter().map(|stage| row(stage, axis, shown)));
    }
    text_table::aligned(
        &[&format!("{} in", history.structure), "x86", "x64", "arm64", "type", "bits", "change", "evidence"],
        &rows,
        None,
    )
}

fn is_values(history: &History, layouts: &Layouts) -> bool {
    let definition = layouts.spec.definitions.get(&history.structure);
    definition.is_some_and(|definition| matches!(definition.body, Body::Values(_)))
}

/// The history as a JSON document.
pub fn json<'a>(history: &'a History, layouts: &'a Layouts) -> impl Serialize + use<'a> {
    let axis = &layouts.spec.axis;
    let members = history.members.iter().map(|(name, stages)| object! { name: name, history: stages_json(axis, stages) });
    object! {
        structure: &history.structure,
        r#in: axis.describe(&history.targets),
        sizes: stages_json(axis, &history.sizes),
        members: members.collect::<Vec<_>>(),
    }
}

fn row(stage: &Stage, axis: &Axis, shown: [bool; Arch::ALL.len()]) -> text_table::Row {
    let facts = || stage.facts.iter().flatten().flatten();
    let number = |arch: usize| match &stage.facts[arch] {
        _ if !shown[arch] => String::new(),
        Some(Some(TargetFact::Size { size: number, .. } | TargetFact::Member { offset: number, .. })) => format!("{number:#06x}"),
        Some(Some(TargetFact::Constant { value })) => format!("{value:#x}"),
        _ => "-".into(),
    };
    let mut types: Vec<&str> =
        facts().filter_map(|f| if let TargetFact::Member { r#type, .. } = f { Some(&**r#type) } else { None }).collect();
    types.dedup();
    let mut bits: Vec<_> = facts().filter_map(bits).map(etw_layouts_atlas::bit_range).collect();
    bits.dedup();
    let cells = vec![
        format!("  {}", stage.label(axis)),
        number(0),
        number(1),
        number(2),
        types.join(" / "),
        bits.join(" / "),
        change(stage),
        words(stage).join(", "),
    ];
    let style = if stage.is_absent() { DIM } else { Style::new() };
    text_table::Row { style, cells }
}

/// The change, and the last build without it.
fn change(stage: &Stage) -> String {
    let last = stage.last_without.map(|build| format!("last without: {build:#}"));
    [Some(stage.change.clone()).filter(|change| !change.is_empty()), last].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The evidence for a stage, strongest first.
fn words(stage: &Stage) -> Vec<&'static str> {
    stage.sources.iter().map(|source| source.word()).collect()
}

fn bits(fact: &TargetFact) -> Option<Bits> {
    match fact {
        TargetFact::Member { bit: Some(position), bits: Some(width), .. } => Some(Bits { position: *position, width: *width }),
        _ => None,
    }
}

fn stages_json<'a>(axis: &'a Axis, stages: &'a [Stage]) -> Vec<impl Serialize + use<'a>> {
    let one = |stage: &'a Stage| {
        let [x86, x64, arm64] = stage.facts.each_ref().map(|known| known.as_ref().and_then(Option::as_ref));
        // If it begins with an update of a build: the first revision with the change.
        let since = stage.since.map(|build| {
            let last_without = stage.last_without.map(|build| format!("{build:#}"));
            object! { since: object! { build: format!("{build:#}"), kb: windows(axis, build).kb, last_without: last_without } }
        });
        object! {
            r#in: axis.describe(&stage.targets),
            #[serde(flatten)] since: since,
            // If it ends with an update of a build: the first revision with the next change.
            #[serde(flatten)] before: stage.before.map(|build| object! { before: format!("{build:#}") }),
            change: &stage.change,
            // The evidence in these versions, strongest first.
            evidence: words(stage),
            x86: x86,
            x64: x64,
            arm64: arm64,
        }
    };
    stages.iter().map(one).collect()
}
