//! Answers as files of tables.

use crate::etl::export::format_of;
use crate::output::Escaped;
use crate::output::stop::Stop;
use etw_layouts_answers::top::{Answer, Unit, Value};
use etw_layouts_cli::NewFile;
use etw_layouts_table::write::Writer;
use etw_layouts_table::{Error, Values, sums};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the first rows of an answer in the format of the file name.
pub fn write(answer: &Answer, limit: usize, path: &Path) -> Result<(), Stop> {
    let target = path.display().to_string();
    let Some(format) = format_of(&target) else {
        let why = format!("{}: unknown format; use a name that ends with .parquet, .arrow, .csv or .jsonl", Escaped(&target));
        return Err(Stop::Input(why));
    };
    let failed = |why: &dyn std::fmt::Display| Stop::Output(io::Error::other(format!("{}: {why}", Escaped(&target))));
    let new = NewFile::create(path).map_err(|why| failed(&why))?;
    let written = || -> Result<(), Error> {
        let batch = sums(columns(answer, limit))?;
        let mut writer = Writer::new(format, &batch.table, BufWriter::new(new.file()))?;
        writer.write(&batch.rows)?;
        Ok(writer.finish()?.flush()?)
    };
    written().map_err(|error| failed(&error))?;
    new.finish().map_err(|why| failed(&why))
}

fn columns(answer: &Answer, limit: usize) -> Vec<(&'static str, Values)> {
    let rows: Vec<_> = answer.rows.iter().take(limit).map(|row| answer.values(row)).collect();
    let column = |(index, column): (usize, etw_layouts_answers::top::Column)| {
        let cells = rows.iter().map(|row| row.get(index));
        let values = match column.unit {
            Some(Unit::Milliseconds | Unit::Percent) => {
                Values::Real(cells.map(|cell| if let Some(Value::Real(number)) = cell { Some(*number) } else { None }).collect())
            }
            _ if column.is_text => Values::Text(
                cells.map(|cell| if let Some(Value::Text(text)) = cell { Some(text.to_string()) } else { None }).collect(),
            ),
            _ => Values::Integer(
                cells.map(|cell| if let Some(Value::Integer(number)) = cell { Some(*number) } else { None }).collect(),
            ),
        };
        (column.name, values)
    };
    answer.columns().into_iter().enumerate().map(column).collect()
}
