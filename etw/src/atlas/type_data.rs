//! What the script knows of a structure: its layouts, which target has which, and the history of its members.

use super::facts::{Atlas, Structure};
use super::paths;
use super::sheet::{Row, Sheet};
use crate::Error;
use etw_layouts_codegen::layouts::LayoutId;
use etw_layouts_project::history::TargetFact;
use etw_layouts_project::matrix::{Matrix, Run};
use etw_layouts_project::sentence;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Serialize)]
struct Data<'a> {
    kind: &'static str,
    /// The layout of each target, or -1.
    of: Vec<i32>,
    /// The confidence in it, as the number of a sentence, or -1.
    sure: Vec<i32>,
    sentences: Vec<String>,
    /// The sets of facts that contain the structure.
    holds: Vec<usize>,
    layouts: Vec<LayoutData>,
    rows: Vec<Row>,
    /// By architecture and member, the runs of targets with one offset and type.
    history: BTreeMap<&'static str, BTreeMap<&'a str, Vec<RunData>>>,
}

#[derive(Serialize)]
struct LayoutData {
    size: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pack: u64,
    /// Offset and row, in turn.
    rows: Vec<u64>,
    embeds: BTreeSet<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(pack: &u64) -> bool {
    *pack == 0
}

/// The first target of a run and its last, the offset with the bits, and the type.
#[derive(Serialize)]
struct RunData(usize, usize, String, String);

/// The file: its path, and the script in it.
pub fn file(atlas: &Atlas, structure: &Structure) -> Result<(String, String), Error> {
    let name = structure.name();
    let targets = atlas.axis.targets.len();
    let mut data = Data {
        kind: "",
        of: vec![-1; targets],
        sure: vec![-1; targets],
        sentences: Vec::new(),
        holds: Vec::new(),
        layouts: Vec::new(),
        rows: Vec::new(),
        history: BTreeMap::new(),
    };
    let witnesses = atlas.registry.witnesses.iter().enumerate();
    data.holds.extend(witnesses.filter(|(_, witness)| witness.holds.contains(name)).map(|(index, _)| index));
    let (mut known, mut rows) = (HashMap::new(), HashMap::new());
    for matrix in &structure.matrices {
        for column in &matrix.columns {
            let number = layout(structure, column.layout, &mut data, (&mut known, &mut rows));
            for &(target, confidence) in &column.targets {
                let words = sentence(atlas.axis, &confidence, matrix.arch);
                let sure = data.sentences.iter().position(|known| *known == words).unwrap_or_else(|| {
                    data.sentences.push(words);
                    data.sentences.len() - 1
                });
                data.of[usize::from(target)] = number;
                data.sure[usize::from(target)] = i32::try_from(sure).unwrap_or(-1);
            }
        }
        let members = matrix.rows.iter().map(|row| (row.member.as_str(), runs(matrix, &row.runs)));
        data.history.insert(matrix.arch.as_str(), members.collect());
    }
    let json = serde_json::to_string(&data)?;
    Ok((paths::of_data(name), format!("(window.atlasTypes ??= {{}})[\"{name}\"] = {json};\n")))
}

/// The number of a layout, which is added if it is not known yet.
fn layout(
    structure: &Structure,
    id: LayoutId,
    data: &mut Data,
    (known, numbers): (&mut HashMap<LayoutId, i32>, &mut HashMap<Row, u64>),
) -> i32 {
    if let Some(&number) = known.get(&id) {
        return number;
    }
    let number = i32::try_from(data.layouts.len()).unwrap_or(-1);
    known.insert(id, number);
    let Some(sheet) = structure.sheets.get(&id) else { return -1 };
    data.kind = sheet.kind;
    let mut rows = Vec::new();
    for (offset, row) in &sheet.rows {
        let next = data.rows.len() as u64;
        let index = *numbers.entry(row.clone()).or_insert(next);
        if index == next {
            data.rows.push(row.clone());
        }
        rows.extend([*offset, index]);
    }
    data.layouts.push(LayoutData { size: sheet.size, pack: sheet.pack, rows, embeds: sheet.embeds.clone() });
    number
}

/// The runs of a member. Runs that differ only in their evidence are joined.
fn runs(matrix: &Matrix, runs: &[Run]) -> Vec<RunData> {
    let mut list: Vec<(usize, RunData)> = Vec::new();
    for run in runs {
        let Some(data) = run_data(matrix, run) else { continue };
        match list.last_mut().filter(|(end, last)| *end == run.columns.start && (&last.2, &last.3) == (&data.2, &data.3)) {
            Some((end, last)) => (*end, last.1) = (run.columns.end, data.1),
            None => list.push((run.columns.end, data)),
        }
    }
    list.into_iter().map(|(_, data)| data).collect()
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

/// The sheets of all layouts that a structure has.
pub fn sheets(atlas: &Atlas, matrices: &[Matrix]) -> HashMap<LayoutId, Sheet> {
    let ids: BTreeSet<LayoutId> = matrices.iter().flat_map(|matrix| &matrix.columns).map(|column| column.layout).collect();
    ids.into_iter().filter_map(|id| Some((id, Sheet::of(atlas, id)?))).collect()
}
