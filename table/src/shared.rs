//! Dictionaries that all batches share.

use crate::dictionary::Dictionary;
use crate::hash::Map;
use crate::table::Batch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch};
use arrow_schema::{ArrowError, DataType};

/// Dictionaries of all batches, one for each column of names: the dictionary of a batch begins with that of the batch before it, as long as they
/// have the same [generation](Batch::generation).
#[derive(Debug, Default)]
pub struct SharedNames {
    by_column: Map<Box<str>, Dictionary>,
    generation: u32,
}

/// Size of all names, in bytes, from which they are discarded, and a new generation begins.
const NAMES: usize = 16 << 20;

impl SharedNames {
    /// Replaces the dictionaries of a batch.
    ///
    /// # Errors
    ///
    /// Arrow rejects a column; no batch is known to cause that.
    pub fn share(&mut self, batch: &mut Batch) -> Result<(), ArrowError> {
        if self.by_column.values().map(Dictionary::size).sum::<usize>() > NAMES {
            self.by_column.clear();
            self.generation += 1;
        }
        let schema = batch.rows.schema();
        let columns = schema.fields().iter().zip(batch.rows.columns()).map(|(field, column)| match column.data_type() {
            DataType::Dictionary(..) => self.column(field.name(), column),
            _ => Ok(column.clone()),
        });
        let columns = columns.collect::<Result<_, _>>()?;
        batch.rows = RecordBatch::try_new(schema.clone(), columns)?;
        batch.generation = self.generation;
        Ok(())
    }

    fn column(&mut self, name: &str, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let (Some(own), Some(names)) =
            (column.as_dictionary_opt::<Int32Type>(), column.as_dictionary::<Int32Type>().values().as_string_opt::<i32>())
        else {
            return Ok(column.clone());
        };
        if !self.by_column.contains_key(name) {
            self.by_column.insert(name.into(), Dictionary::default());
        }
        let Some(shared) = self.by_column.get_mut(name) else { return Ok(column.clone()) };
        let numbers: Vec<_> = names.iter().map(|name| shared.add(name.unwrap_or_default())).collect();
        let number = |number: i32| numbers.get(number as usize).copied().unwrap_or_default();
        let keys: Int32Array = own.keys().unary(number);
        shared.column(keys)
    }
}
