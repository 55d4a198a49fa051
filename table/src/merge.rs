//! Merges the batches of the parts of a trace: batches of a table become one, and all share their dictionaries.

use crate::Error;
use crate::dictionary::Dictionary;
use crate::options::{BYTES, ROWS};
use crate::table::{self, Batch, Kind, Table};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use std::collections::HashMap;
use std::sync::Arc;

/// Merges batches. As long as batches have the same [generation](Batch::generation), the dictionary of a column begins with that of the batch before
/// it.
#[derive(Debug, Default)]
pub struct Merge {
    tables: HashMap<(Kind, u128), Rows>,
    names: HashMap<Box<str>, Dictionary>,
    /// Approximate memory for rows, in bytes.
    memory: usize,
    generation: u32,
}

/// The rows of a table that are not in a batch yet.
#[derive(Debug)]
struct Rows {
    table: Arc<Table>,
    /// The columns of each batch; names are numbers in the shared dictionaries.
    batches: Vec<Vec<ArrayRef>>,
    rows: usize,
    memory: usize,
}

/// Memory limit for rows, in bytes. If it is exceeded, the rows of the largest table become a batch.
const MEMORY: usize = 32 << 20;
/// Approximate memory for a column of a table without rows, in bytes.
const COLUMN: usize = 256;
/// Size of all names, in bytes, from which they are discarded, and a new generation begins.
const NAMES: usize = 16 << 20;

impl Merge {
    /// Adds a batch, and passes complete batches to `full`.
    ///
    /// # Errors
    ///
    /// `full` returns an error, or Arrow rejects a column; no batch is known to cause that.
    pub fn add<E: From<Error>>(&mut self, batch: Batch, mut full: impl FnMut(Batch) -> Result<(), E>) -> Result<(), E> {
        if self.names.values().map(Dictionary::size).sum::<usize>() > NAMES {
            self.rest(&mut full)?;
            self.names.clear();
            self.generation += 1;
        }
        let columns = self.columns(&batch.rows);
        let memory: usize = columns.iter().map(table::memory).sum();
        let key = (batch.table.kind.clone(), batch.table.layout);
        let table = || Rows { table: batch.table.clone(), batches: Vec::new(), rows: 0, memory: 0 };
        let rows = self.tables.entry(key.clone()).or_insert_with(table);
        // The batches of different threads have different copies of the table.
        let memory = memory + COLUMN * if rows.rows == 0 { columns.len() } else { 0 };
        rows.batches.push(columns);
        rows.rows += batch.rows.num_rows();
        rows.memory += memory;
        self.memory += memory;
        if rows.rows >= ROWS || rows.memory >= BYTES {
            self.flush(&key, &mut full)?;
        }
        while self.memory > MEMORY
            && let Some((largest, _)) = self.tables.iter().max_by_key(|(_, rows)| rows.memory)
        {
            self.flush(&largest.clone(), &mut full)?;
        }
        Ok(())
    }

    /// Passes the batches of the remaining rows to `full`.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn rest<E: From<Error>>(&mut self, mut full: impl FnMut(Batch) -> Result<(), E>) -> Result<(), E> {
        let mut keys: Vec<_> = self.tables.keys().cloned().collect();
        keys.sort();
        keys.iter().try_for_each(|key| self.flush(key, &mut full))
    }

    fn flush<E: From<Error>>(&mut self, key: &(Kind, u128), full: &mut impl FnMut(Batch) -> Result<(), E>) -> Result<(), E> {
        let Some(Rows { table, batches, memory, .. }) = self.tables.remove(key) else { return Ok(()) };
        self.memory = self.memory.saturating_sub(memory);
        let rows = self.merged(&table, batches).map_err(Error::from)?;
        full(Batch { table, rows, generation: self.generation })
    }

    fn merged(&mut self, table: &Table, batches: Vec<Vec<ArrayRef>>) -> Result<RecordBatch, ArrowError> {
        let columns = table.schema.fields().iter().enumerate().map(|(index, field)| {
            let parts: Vec<_> = batches.iter().filter_map(|columns| columns.get(index)).map(|column| &**column).collect();
            let column = match parts[..] {
                [_] => batches[0][index].clone(),
                _ => arrow_select::concat::concat(&parts)?,
            };
            match (field.data_type(), self.names.get_mut(&**field.name())) {
                (DataType::Dictionary(..), Some(names)) => names.column(column.as_primitive::<Int32Type>().clone()),
                _ => Ok(column),
            }
        });
        RecordBatch::try_new(table.schema.clone(), columns.collect::<Result<_, _>>()?)
    }

    /// The columns of a batch; those of names as numbers in the shared dictionaries.
    fn columns(&mut self, rows: &RecordBatch) -> Vec<ArrayRef> {
        let schema = rows.schema();
        let fields = schema.fields().iter().zip(rows.columns());
        fields.map(|(field, column)| self.numbers(field.name(), column).unwrap_or_else(|| column.clone())).collect()
    }

    fn numbers(&mut self, name: &str, column: &ArrayRef) -> Option<ArrayRef> {
        let own = column.as_dictionary_opt::<Int32Type>()?;
        let names = own.values().as_string_opt::<i32>()?;
        if !self.names.contains_key(name) {
            self.names.insert(name.into(), Dictionary::default());
        }
        let shared = self.names.get_mut(name)?;
        let numbers: Vec<_> = names.iter().map(|name| shared.add(name.unwrap_or_default())).collect();
        let keys: Int32Array = own.keys().unary(|number| numbers.get(number as usize).copied().unwrap_or_default());
        Some(Arc::new(keys))
    }
}
