//! A table that answers a question about a trace.

use super::key::{Key, KeyValue};
use super::what::{Measure, Unit, What};
use std::borrow::Cow;

/// The answer to a question about a trace: sums of amounts by keys.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// What was summed.
    pub what: What,
    /// The keys of each row, in this order.
    pub keys: Vec<Key>,
    /// The rows, the largest first: by the [main measure](What::main), then by the other measures and the keys.
    pub rows: Vec<Row>,
    /// The sum of each measure over all rows; for a maximum, the largest.
    pub totals: Vec<u64>,
    /// The sums by [slots](super::Slots) of time, in the same form as [`Row::slots`].
    pub total_slots: Vec<u64>,
    /// The time that the trace covers, in units of 100 ns: from the first event to the last one, within the time limits of the
    /// filter. Events that describe the session, such as EventTrace/Header, are ignored. Time between sessions is not included, and time that several sessions cover counts once.
    pub duration: u64,
    /// Number of sessions of the trace. Their rows are separate.
    pub sessions: usize,
    /// Number of events of the trace from which the answer is computed, whether the filter matches them or not. If there are none, the trace
    /// cannot answer the question: see [`What::needs`].
    pub relevant: u64,
    /// The names of these events, such as `DiskIo/Read`, in their order; empty for [`What::Events`].
    pub relevant_events: Vec<String>,
    /// Number of all events of the trace.
    pub events: u64,
    /// The measures that no event of the trace states, by their indices in [`What::measures`]. Their amounts are 0 in all rows, and
    /// [`Value::Unknown`] in [`values`](Self::values).
    pub unknown: Vec<usize>,
    /// What is missing, inferred or left out.
    pub notes: Vec<Note>,
}

/// A row of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The values of the keys.
    pub keys: Vec<KeyValue>,
    /// The measures of [`What::measures`].
    pub amounts: Vec<u64>,
    /// For each slot of time with amounts, in their order: its number, then the measures. `None` if sums by slots were not requested, or were dropped to
    /// limit memory, which the smallest rows lose first.
    pub slots: Option<Vec<u64>>,
}

/// What is missing, inferred or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The text, without the count.
    pub note: &'static str,
    /// How often.
    pub count: u64,
}

/// A column of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Name, such as `ms`.
    pub name: &'static str,
    /// Unit of the values; `None` for a column of a key.
    pub unit: Option<Unit>,
    /// Whether its values are texts; otherwise they are numbers.
    pub is_text: bool,
}

impl Column {
    pub(crate) fn of_key(name: &'static str) -> Self {
        Self { name, unit: None, is_text: !matches!(name, "process" | "thread" | "processor") }
    }

    pub(crate) fn of_number(name: &'static str, unit: Unit) -> Self {
        Self { name, unit: Some(unit), is_text: false }
    }
}

/// A value in a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// It is not known.
    Unknown,
    /// A number of things, or bytes; or an identifier.
    Integer(u64),
    /// Milliseconds or percent.
    Real(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Answer {
    /// The columns: those of the keys, the measures, the percentage of the main measure, and, if the question has it, that of the time without the idle
    /// process.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let keys = self.keys.iter().flat_map(|key| key.columns()).map(Column::of_key);
        let measures = self.what.measures().iter().map(|Measure { name, unit, .. }| Column::of_number(name, *unit));
        let percent = Some("percent").into_iter().chain(self.what.busy().map(|_| "busy_percent"));
        keys.chain(measures).chain(percent.map(|name| Column::of_number(name, Unit::Percent))).collect()
    }

    /// The values of a row, one for each column.
    #[must_use]
    pub fn values<'a>(&'a self, row: &'a Row) -> Vec<Value<'a>> {
        let keys = self.keys.iter().zip(&row.keys).flat_map(|(key, value)| value.values(*key));
        keys.chain(self.amounts(&row.amounts)).collect()
    }

    /// The values of the columns after those of the keys.
    pub fn amounts<'a>(&'a self, amounts: &'a [u64]) -> impl Iterator<Item = Value<'a>> {
        let value = |(index, (measure, amount)): (usize, (&Measure, &u64))| match self.unknown.contains(&index) {
            true => Value::Unknown,
            false => measure.unit.value(*amount),
        };
        let measures = self.what.measures().iter().zip(amounts).enumerate().map(value);
        let percent =
            [Some(self.what.main()), self.what.busy()].into_iter().flatten().map(|measure| self.percent(measure, amounts));
        measures.chain(percent)
    }

    /// The sum of each measure over rows; for a maximum, the largest.
    #[must_use]
    pub fn sum<'r>(&self, rows: impl IntoIterator<Item = &'r Row>) -> Vec<u64> {
        let mut sums = vec![0; self.what.measures().len()];
        rows.into_iter().for_each(|row| self.what.combine(&mut sums, &row.amounts));
        sums
    }

    /// The percentage of the total of a measure.
    fn percent(&self, measure: usize, amounts: &[u64]) -> Value<'static> {
        let of = |amounts: &[u64]| amounts.get(measure).copied().unwrap_or_default();
        match (of(amounts), of(&self.totals)) {
            _ if self.unknown.contains(&measure) => Value::Unknown,
            (_, 0) => Value::Real(0.0),
            (amount, total) => Value::Real((amount as f64 / total as f64 * 1e6).round() / 1e4),
        }
    }
}

impl Unit {
    /// An amount in the unit in which people read it.
    #[must_use]
    pub fn value(self, amount: u64) -> Value<'static> {
        match self {
            Self::Count | Self::Bytes => Value::Integer(amount),
            // Divided once, so that the decimals are those of the amount.
            Self::Milliseconds => Value::Real(amount as f64 / 10_000.0),
            Self::Percent => Value::Real(amount as f64),
        }
    }
}

impl KeyValue {
    /// The values in the columns of a key.
    #[must_use]
    pub fn values(&self, key: Key) -> Vec<Value<'_>> {
        match self {
            Self::Process { id, image, .. } => {
                let image = image.as_deref().map_or(Value::Unknown, |image| Value::Text(image.into()));
                vec![Value::Integer((*id).into()), image]
            }
            Self::Others => {
                let others = Value::Text(KeyValue::OTHERS.into());
                if key == Key::Process { vec![Value::Unknown, others] } else { vec![others] }
            }
            Self::Unknown => vec![Value::Unknown; key.columns().len()],
            Self::Number(number) => vec![Value::Integer((*number).into())],
            Self::Text(text) => vec![Value::Text((&**text).into())],
        }
    }
}
