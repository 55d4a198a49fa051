//! Compares the sums of traces.

use crate::top::{Answer, Column, Key, KeyValue, Unit, Value, What};
use std::collections::BTreeMap;

/// The differences between two groups of traces. All amounts are per second of trace, except maxima.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// What was summed.
    pub what: What,
    /// The keys of each row.
    pub keys: Vec<Key>,
    /// Index of the measure that is compared.
    pub measure: usize,
    /// The sum over all rows.
    pub total: Change,
    /// The rows, those with the largest difference first.
    pub rows: Vec<Change>,
}

/// A measure in two groups of traces.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The values of the keys. A process is only its image: identifiers of processes differ between traces. Several processes with the same image are
    /// added.
    pub keys: Vec<KeyValue>,
    /// In the first group.
    pub before: Statistic,
    /// In the second group.
    pub after: Statistic,
}

/// An amount in several traces.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Statistic {
    /// The mean. A trace without a row for the keys counts as 0.
    pub mean: f64,
    /// Standard deviation of the sample (with n - 1); `None` for a single trace.
    pub deviation: Option<f64>,
}

/// Compares a measure, by its index, in the answers to the same question about two groups of traces. `None` if a trace covers no time, a group has no
/// trace, the answers are to different questions, or the question has no such measure.
#[must_use]
pub fn compare(before: &[Answer], after: &[Answer], measure: usize) -> Option<Comparison> {
    let first = before.first()?;
    let kind = first.what.measures().get(measure)?;
    if before.iter().chain(after).any(|answer| (answer.what, &answer.keys) != (first.what, &first.keys)) {
        return None;
    }
    let mut rows = BTreeMap::<Vec<KeyValue>, [Vec<f64>; 2]>::new();
    let mut totals = [Vec::new(), Vec::new()];
    for (side, answers) in [before, after].into_iter().enumerate() {
        for (run, answer) in answers.iter().enumerate() {
            let seconds = answer.duration as f64 / 1e7;
            if answer.duration == 0 {
                return None;
            }
            let rate = |amount: u64| if kind.is_maximum { amount as f64 } else { amount as f64 / seconds };
            totals[side].push(rate(answer.totals[measure]));
            // Rows are added as integers, so that the order of rows does not matter.
            let mut sums = BTreeMap::<Vec<KeyValue>, u64>::new();
            for row in &answer.rows {
                let sum = sums.entry(row.keys.iter().map(comparable).collect()).or_default();
                let amount = row.amounts[measure];
                *sum = if kind.is_maximum { (*sum).max(amount) } else { sum.saturating_add(amount) };
            }
            for (keys, sum) in sums {
                let runs = rows.entry(keys).or_insert_with(|| [vec![0.0; before.len()], vec![0.0; after.len()]]);
                runs[side][run] = rate(sum);
            }
        }
    }
    let change = |(keys, [before, after]): (Vec<KeyValue>, [Vec<f64>; 2])| {
        Some(Change { keys, before: statistic(&before)?, after: statistic(&after)? })
    };
    let total = change((Vec::new(), totals))?;
    let mut rows = rows.into_iter().map(change).collect::<Option<Vec<_>>>()?;
    rows.sort_by(|a, b| {
        b.difference().abs().total_cmp(&a.difference().abs()).then_with(|| b.before.mean.total_cmp(&a.before.mean))
    });
    Some(Comparison { what: first.what, keys: first.keys.clone(), measure, total, rows })
}

/// The value of a key without what differs between traces.
fn comparable(value: &KeyValue) -> KeyValue {
    match value {
        KeyValue::Process { image: Some(image), .. } => KeyValue::Text(image.clone()),
        KeyValue::Process { image: None, .. } => KeyValue::Unknown,
        value => value.clone(),
    }
}

fn statistic(amounts: &[f64]) -> Option<Statistic> {
    let count = amounts.len() as f64;
    let mean = amounts.iter().sum::<f64>() / count;
    let squares: f64 = amounts.iter().map(|amount| (amount - mean).powi(2)).sum();
    let deviation = (amounts.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
    (!amounts.is_empty()).then_some(Statistic { mean, deviation })
}

impl Comparison {
    /// The columns: the keys, the measure in both groups, each with its standard deviation if a group has several traces, the difference, and the
    /// difference in percent of the first group.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let keys = self.keys.iter().map(|key| Column::of_key(if *key == Key::Process { "image" } else { key.name() }));
        let unit = self.what.measures()[self.measure].unit;
        let numbers = self.numbered(["before", "before_deviation", "after", "after_deviation", "difference"]);
        let numbers = numbers.map(|name| Column::of_number(name, unit));
        keys.chain(numbers).chain([Column::of_number("percent", Unit::Percent)]).collect()
    }

    /// The values of a row, one for each column. Times are in milliseconds per second of trace.
    #[must_use]
    pub fn values<'a>(&self, row: &'a Change) -> Vec<Value<'a>> {
        let keys = self.keys.iter().zip(&row.keys).flat_map(|(_, value)| value.values(Key::Event));
        keys.chain(self.numbers(row)).collect()
    }

    /// The values of the columns after those of the keys.
    #[must_use]
    pub fn numbers(&self, row: &Change) -> Vec<Value<'static>> {
        let real = |amount| self.value(amount);
        let deviation = |statistic: Statistic| statistic.deviation.map_or(Value::Unknown, real);
        let percent =
            if row.before.mean == 0.0 { Value::Unknown } else { Value::Real(row.difference() / row.before.mean * 100.0) };
        let Change { before, after, .. } = row;
        let numbers = [real(before.mean), deviation(*before), real(after.mean), deviation(*after), real(row.difference())];
        self.numbered(numbers).chain([percent]).collect()
    }

    /// An amount in the unit of the columns.
    #[must_use]
    pub fn value(&self, amount: f64) -> Value<'static> {
        let unit = self.what.measures()[self.measure].unit;
        Value::Real(if unit == Unit::Milliseconds { amount / 10_000.0 } else { amount })
    }

    /// The columns that the comparison has: without standard deviations, if each group has a single trace.
    fn numbered<T>(&self, [before, before_deviation, after, after_deviation, difference]: [T; 5]) -> impl Iterator<Item = T> {
        let has_deviations = self.total.before.deviation.or(self.total.after.deviation).is_some();
        let deviation = |value| has_deviations.then_some(value);
        let numbers = [Some(before), deviation(before_deviation), Some(after), deviation(after_deviation), Some(difference)];
        numbers.into_iter().flatten()
    }
}

impl Change {
    /// The mean of the second group minus that of the first.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.after.mean - self.before.mean
    }
}
