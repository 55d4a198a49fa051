//! Answers to questions, as tables.

use crate::files::argument;
use crate::text::{digits, shortened};
use etw_layouts_answers::top::{Answer, Unit, Value, What};
use etw_layouts_trace::etl::text::{Grouped, Several};
use serde::Serialize;
use serde_json::json;

/// The answer to a question, as `etw etl top` prints it: its largest rows.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Table {
    /// Name of the question, such as `cpu`.
    pub what: &'static str,
    /// A name for readers, such as `processor time`.
    pub title: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Names of the keys, such as `process`.
    pub by: Vec<&'static str>,
    /// Columns of the keys.
    pub keys: Vec<&'static str>,
    /// Names of the measures.
    pub measures: Vec<&'static str>,
    /// Unit of each measure: `count`, `time` (in units of 100 ns) or `bytes`.
    pub units: Vec<&'static str>,
    /// Whether each measure is the largest of the amounts instead of their sum.
    pub maxima: Vec<bool>,
    /// Index of the measure by which rows are sorted.
    pub main: usize,
    /// Indices of the measures that no event states.
    pub unknown: Vec<usize>,
    /// Number of events from which the answer is computed.
    pub relevant: u64,
    /// The options of `etw etl events` that select these events; empty if any event is one.
    pub select: String,
    /// The largest rows.
    pub rows: Vec<Row>,
    /// Number of further rows, whose amounts are only in the totals.
    pub more_rows: usize,
    /// The amounts of further rows.
    pub others: Vec<u64>,
    /// The amounts of all rows.
    pub totals: Vec<u64>,
    /// The amounts of all rows by slot.
    pub slots: Vec<u64>,
    /// What is missing, inferred or left out.
    pub notes: Vec<Note>,
}

/// A row of a table.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// A number, a text or nothing for each column of the keys.
    pub keys: Vec<serde_json::Value>,
    /// The measures.
    pub amounts: Vec<u64>,
    /// The amounts by slot; `None` if the row is too small to have them in the report.
    pub slots: Option<Vec<u64>>,
}

/// What is missing, inferred or left out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// The text.
    pub note: &'static str,
    /// How often.
    pub count: u64,
}

/// A question that the trace cannot answer.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Unanswered {
    /// Name of the question.
    pub what: &'static str,
    /// A name for readers, such as `processor time`.
    pub title: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The events that answer it.
    pub needs: &'static str,
    /// A command of Windows that records them.
    pub record: &'static str,
}

/// Maximum number of rows of a table.
const MAX_ROWS: usize = 30;

/// Limit of the amounts by slot of the rows of all tables, in bytes of JSON.
pub(crate) const MAX_SLOTS: usize = 400 << 10;

impl Table {
    /// The largest rows of an answer. `left` limits the amounts by slot of the rows, in bytes of JSON.
    pub(crate) fn new(answer: &Answer, mut left: usize, reduced: &mut Vec<String>) -> Self {
        let what = answer.what;
        let mut without_slots = 0;
        let row = |row: &etw_layouts_answers::top::Row| {
            let slots = row.slots.as_ref().filter(|slots| {
                let size = slots.iter().map(|number| digits(*number)).sum();
                let fits = size <= left;
                left = left.checked_sub(size).unwrap_or(left);
                fits
            });
            without_slots += u64::from(slots.is_none());
            let keys = answer.keys.iter().zip(&row.keys).flat_map(|(key, value)| value.values(*key));
            Row { keys: keys.map(|value| key(&value)).collect(), amounts: row.amounts.clone(), slots: slots.cloned() }
        };
        let (shown, others) = answer.rows.split_at(answer.rows.len().min(MAX_ROWS));
        let rows = shown.iter().map(row).collect();
        let name = format!("{} by {}", what.name(), answer.keys.iter().map(|key| key.name()).collect::<Vec<_>>().join(", "));
        if !others.is_empty() {
            reduced.push(format!(
                "{name}: {} of {} rows; `etw etl top` prints all.",
                Grouped(shown.len() as u64),
                Grouped(answer.rows.len() as u64)
            ));
        }
        if without_slots > 0 {
            reduced.push(format!(
                "{name}: {} without sums by time, which are part of the others in a selection.",
                Several(without_slots, "row")
            ));
        }
        let measures = what.measures();
        Self {
            what: what.name(),
            title: title(what),
            summary: what.summary(),
            by: answer.keys.iter().map(|key| key.name()).collect(),
            keys: answer.keys.iter().flat_map(|key| key.columns()).collect(),
            measures: measures.iter().map(|measure| measure.name).collect(),
            units: measures.iter().map(|measure| unit(measure.unit)).collect(),
            maxima: measures.iter().map(|measure| measure.is_maximum).collect(),
            main: what.main(),
            unknown: answer.unknown.clone(),
            relevant: answer.relevant,
            select: select(&answer.relevant_events),
            rows,
            more_rows: others.len(),
            others: answer.sum(others),
            totals: answer.totals.clone(),
            slots: answer.total_slots.clone(),
            notes: answer.notes.iter().map(|note| Note { note: note.note, count: note.count }).collect(),
        }
    }
}

/// The options that select events by name.
fn select(names: &[String]) -> String {
    names.iter().filter_map(|name| Some(format!("--event {}", argument(name)?))).collect::<Vec<_>>().join(" ")
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Milliseconds => "time",
        Unit::Bytes => "bytes",
        _ => "count",
    }
}

fn key(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Integer(number) => json!(number),
        Value::Text(text) => json!(shortened(text)),
        _ => serde_json::Value::Null,
    }
}

impl Unanswered {
    pub(crate) fn new(what: What) -> Self {
        Self { what: what.name(), title: title(what), summary: what.summary(), needs: what.needs(), record: what.record() }
    }
}

/// The name of a question for readers.
pub(crate) fn title(what: What) -> &'static str {
    match what {
        What::Cpu => "processor time",
        What::Run => "running threads",
        What::Wait => "waiting threads",
        What::Ready => "ready threads",
        What::Dpc => "deferred procedure calls",
        What::Isr => "interrupts",
        What::Disk => "disks",
        What::Files => "files",
        What::Faults => "page faults",
        What::Net => "network",
        What::Gc => ".NET pauses",
        What::Alloc => ".NET allocations",
        What::Images => "loaded images",
        What::Events => "events",
        other => other.name(),
    }
}
