//! The table of sums, such as those of `etw etl top`.

use crate::schema;
use crate::table::{Batch, Kind, Table};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, Field};
use std::sync::Arc;

/// The values of a column of sums, one for each row; `None` if it is not known.
#[derive(Clone, Debug)]
pub enum Values {
    /// Texts.
    Text(Vec<Option<String>>),
    /// Numbers of things, bytes, or identifiers.
    Integer(Vec<Option<u64>>),
    /// Milliseconds or percent.
    Real(Vec<Option<f64>>),
}

/// The table of these columns, each with its name.
///
/// # Errors
///
/// The columns have different numbers of rows.
pub fn sums(columns: Vec<(&str, Values)>) -> Result<Batch, ArrowError> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
    for (name, values) in columns {
        let array: ArrayRef = match values {
            Values::Text(values) => Arc::new(StringArray::from(values)),
            Values::Integer(values) => Arc::new(UInt64Array::from(values)),
            Values::Real(values) => Arc::new(Float64Array::from(values)),
        };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let table = Arc::new(Table { kind: Kind::Sums, schema: schema::table("sums", fields, &[]), layout: 0 });
    Ok(Batch { rows: RecordBatch::try_new(table.schema.clone(), arrays)?, table, generation: 0 })
}
