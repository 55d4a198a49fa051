//! An answer for front ends that take values instead of text.

use super::saved;
use super::table::Line;
use super::{Head, Noted, answer, has_functions, keys_of, noted};
use crate::etl::symbols::{StackSymbols, notes as symbol_notes};
use crate::object::object;
use crate::output::stop::Stop;
use etw_layouts_answers::top::{Answer, Key, What};
use etw_layouts_etl::Filter;
use etw_layouts_table::Batch;
use etw_layouts_trace::Trace;
use serde::{Serialize, Serializer};

/// An answer as one JSON object, and as a table.
pub struct Document {
    answer: Answer,
    /// Notes on the symbols of functions.
    symbols: Vec<String>,
}

impl Document {
    /// The answer to a question, by its name and the names of keys; without any, the default ones. `symbol_path` is that of `--symbol-path`.
    ///
    /// # Errors
    ///
    /// A name is unknown, the trace cannot be read, or it has no event that answers the question.
    pub fn new(trace: &Trace, name: &str, by: &[String], symbol_path: Option<String>, filters: &[Filter]) -> Result<Self, Stop> {
        let list = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
        let what = What::named(name).ok_or_else(|| {
            Stop::Input(format!("unknown question `{name}`; use one of {}", list(&mut What::all().map(What::name))))
        })?;
        let key = |name: &String| {
            let why =
                || format!("unknown key `{name}`; `{}` has {}", what.name(), list(&mut what.keys().iter().map(|key| key.name())));
            Key::named(name).ok_or_else(|| Stop::Input(why()))
        };
        let keys = keys_of(what, &by.iter().map(key).collect::<Result<Vec<_>, _>>()?)?;
        let functions = StackSymbols::new(symbol_path).functions(has_functions(&keys)).map_err(Stop::Input)?;
        let answer = answer(what, &keys, trace, filters, &functions)?;
        Ok(Self { answer, symbols: symbol_notes(&functions.failures()) })
    }

    /// The rows as a table, with the columns of CSV.
    pub fn table(&self) -> Result<Batch, etw_layouts_table::Error> {
        saved::rows(&self.answer, usize::MAX)
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { answer, symbols } = self;
        let columns = answer.columns();
        let names = || columns.iter().map(|column| column.name);
        let rows: Vec<_> = answer.rows.iter().map(|row| Line(names().zip(answer.values(row)).collect())).collect();
        let symbols = symbols.iter().map(|note| Noted { note, count: 1 });
        let notes: Vec<_> = answer.notes.iter().map(noted).chain(symbols).collect();
        object! { #[serde(flatten)] head: Head::new(answer), rows: rows, notes: notes }.serialize(serializer)
    }
}
