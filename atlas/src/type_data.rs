//! The script's data for a structure: its layouts, the layout of each target, and the history of its members.

use crate::confidence::Confidences;
use crate::facts::{Atlas, Structure};
use crate::index_in;
use crate::paths;
use crate::sheet::{Row, Sheet};
use etw_layouts_codegen::axis::{TargetId, TargetSet};
use etw_layouts_codegen::layouts::{Form, LayoutId};
use etw_layouts_project::Error;
use etw_layouts_project::history::{self, TargetFact};
use etw_layouts_project::matrix::{Matrix, Run};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

#[derive(Serialize)]
struct Data<'a> {
    /// The layout of each target, or -1.
    of: Vec<i32>,
    /// The confidence column of each branch of builds, or -1.
    columns: &'a [i32],
    layouts: Vec<LayoutData>,
    rows: Vec<&'a Row>,
    /// The declarations in C of the enumerations that it embeds.
    enumerations: Vec<String>,
    /// By architecture and member, the runs of targets with one offset and type, newest first.
    history: BTreeMap<&'static str, BTreeMap<&'a str, Vec<RunText>>>,
    /// The texts of the history: the targets of a run, and the change at its first target.
    times: Vec<String>,
}

#[derive(Serialize)]
struct LayoutData {
    size: u64,
    /// The text before and after the members in the C declaration.
    ends: [String; 2],
    /// Offsets, each with the number of its row.
    rows: Vec<(u64, usize)>,
    /// The types that must be declared before it, in this order. A number from 0 is a layout of the structure; a negative number
    /// is an enumeration, counted from -1.
    needs: Vec<(String, i32)>,
}

/// The offset with the bits, the type, and the index of its text in `times`.
#[derive(Serialize)]
struct RunText(String, String, usize);

/// The first and last target of a run, the offset with the bits, and the type.
struct RunData(usize, usize, String, String);

/// The data file: its path and its text.
pub fn file(atlas: &Atlas, confidences: &Confidences, structure: &Structure) -> Result<(String, String), Error> {
    let name = structure.name();
    let mut data = Data {
        of: vec![-1; atlas.axis.targets.len()],
        columns: confidences.of_structure(name),
        layouts: Vec::new(),
        rows: Vec::new(),
        enumerations: Vec::new(),
        history: BTreeMap::new(),
        times: Vec::new(),
    };
    let mut sheets: Vec<&Sheet> = structure.sheets.values().collect();
    sheets.sort_by_key(|sheet| sheet.number);
    let mut known = HashMap::new();
    for sheet in sheets {
        let mut number = |row| {
            *known.entry(row).or_insert_with(|| {
                data.rows.push(row);
                data.rows.len() - 1
            })
        };
        let rows = sheet.rows.iter().map(|(offset, row)| (*offset, number(row))).collect();
        let mut needs = Vec::new();
        sheet.embeds.iter().for_each(|id| need(atlas, *id, &mut needs, &mut data.enumerations));
        data.layouts.push(LayoutData { size: sheet.size, ends: sheet.ends(name), rows, needs });
    }
    let has = history::has(atlas.layouts, name);
    for matrix in &structure.matrices {
        for column in &matrix.columns {
            let number = structure.sheets.get(&column.layout).map_or(-1, |sheet| sheet.number);
            column.targets.iter().for_each(|&(target, _)| data.of[usize::from(target)] = number);
        }
        let members = matrix.rows.iter().map(|row| (row.member.as_str(), runs(atlas, &has, matrix, &row.runs, &mut data.times)));
        data.history.insert(matrix.arch.as_str(), members.collect());
    }
    let json = serde_json::to_string(&data)?;
    Ok((paths::data_file(name), format!("(window.atlasTypes ??= {{}})[\"{name}\"] = {json};\n")))
}

/// Adds a layout after the layouts that it needs.
fn need(atlas: &Atlas, id: LayoutId, needs: &mut Vec<(String, i32)>, enumerations: &mut Vec<String>) {
    let layout = &atlas.layouts.layouts[id];
    if needs.iter().any(|(known, _)| *known == layout.name) {
        return;
    }
    let number = match &layout.form {
        Form::Enumeration(set) => {
            let name = &layout.name;
            let constants: String = set.constants.iter().map(|(name, value)| format!("    {name} = {value},\n")).collect();
            let text = format!("typedef enum _{name} {{\n{constants}}} {name};\n");
            i32::try_from(index_in(enumerations, text)).map_or(-1, |at| -1 - at)
        }
        Form::Aggregate(_) => {
            let structure = atlas.structures.iter().find(|structure| structure.name() == layout.name);
            let Some(sheet) = structure.and_then(|structure| structure.sheets.get(&id)) else { return };
            sheet.embeds.iter().for_each(|id| need(atlas, *id, needs, enumerations));
            sheet.number
        }
    };
    needs.push((layout.name.clone(), number));
}

/// The runs of a member, each with the change since the base of its first target. Runs that differ only in their evidence are
/// joined.
fn runs(atlas: &Atlas, has: &TargetSet, matrix: &Matrix, runs: &[Run], times: &mut Vec<String>) -> Vec<RunText> {
    let mut list: Vec<(usize, RunData)> = Vec::new();
    for run in runs {
        let Some(data) = run_data(matrix, run) else { continue };
        match list.last_mut().filter(|(end, last)| *end == run.columns.start && (&last.2, &last.3) == (&data.2, &data.3)) {
            Some((end, last)) => (*end, last.1) = (run.columns.end, data.1),
            None => list.push((run.columns.end, data)),
        }
    }
    let list: Vec<RunData> = list.into_iter().map(|(_, data)| data).collect();
    let mut text = |run: &RunData| {
        let ty = run.3.split(" {").next().unwrap_or_default();
        RunText(run.2.clone(), format!(" {ty}, "), index_in(times, time(atlas, has, &list, run)))
    };
    list.iter().rev().map(&mut text).collect()
}

/// The targets of a run, and the change at its first target.
fn time(atlas: &Atlas, has: &TargetSet, list: &[RunData], run: &RunData) -> String {
    let windows = |index: usize| atlas.axis.windows(atlas.axis.revision_of(TargetId::from(index)).build);
    let end = if run.0 == run.1 { String::new() } else { format!(" to {}", windows(run.1)) };
    let target = TargetId::from(run.0);
    let change = history::base(atlas.axis, has, target).map(|base| {
        let before = list.iter().find(|run| (run.0..=run.1).contains(&usize::from(base)));
        format!(": {}", change(atlas, target, base, run, before))
    });
    format!("{}{end}{}", windows(run.0), change.unwrap_or_default())
}

/// The change at the first target of a run, compared with the previous update or with the first build of the previous release.
fn change(atlas: &Atlas, target: TargetId, base: TargetId, run: &RunData, before: Option<&RunData>) -> String {
    let is_update = atlas.axis.revision_of(target).build.number == atlas.axis.revision_of(base).build.number;
    let change = match before {
        None => "new",
        Some(before) if (&before.2, &before.3) == (&run.2, &run.3) => return format!("as in {}", atlas.build(base)),
        Some(before) if before.2 == run.2 => "another type",
        Some(_) => "moved",
    };
    match is_update {
        true => format!("{change} with this update; last build without the change: {}", atlas.latest_build(base)),
        false => format!("{change} since {}, the first build of the previous release", atlas.build(base)),
    }
}

fn run_data(matrix: &Matrix, run: &Run) -> Option<RunData> {
    let TargetFact::Member { offset, r#type, bit, bits, .. } = &run.fact else { return None };
    let columns = matrix.columns.get(run.columns.clone())?;
    let (first, last) = (columns.first()?.targets.first()?.0, columns.last()?.targets.last()?.0);
    let bits = match (bit, bits) {
        (Some(bit), Some(1)) => format!(":{bit}"),
        (Some(bit), Some(bits)) => format!(":{bit}-{}", bit + bits - 1),
        _ => String::new(),
    };
    Some(RunData(first.into(), last.into(), format!("{offset:#06x}{bits}"), r#type.clone()))
}
