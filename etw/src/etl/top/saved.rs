//! Answers as files of tables.

use crate::etl::export::format_of;
use crate::output::Escaped;
use crate::output::stop::Stop;
use etw_layouts_answers::top::{Answer, Unit, Value};
use etw_layouts_cli::NewFile;
use etw_layouts_table::write::{Format, Writer};
use etw_layouts_table::{Batch, Error, Values, sums};
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A new file for an answer.
pub struct Target {
    name: String,
    format: Format,
    file: NewFile,
}

impl Target {
    /// Creates the file; its name has the format.
    pub fn create(path: &Path) -> Result<Self, Stop> {
        let name = path.display().to_string();
        let Some(format) = format_of(&name) else {
            let why = format!("{}: unknown format; use a name that ends with .parquet, .arrow, .csv or .jsonl", Escaped(&name));
            return Err(Stop::Input(why));
        };
        let file = NewFile::create(path).map_err(|why| failed(&name, &why))?;
        Ok(Self { name, format, file })
    }

    /// Writes the first rows of an answer.
    pub fn write(self, answer: &Answer, limit: usize) -> Result<(), Stop> {
        let Self { name, format, file: new } = self;
        let failed = |why: &dyn Display| failed(&name, why);
        let written = || -> Result<(), Error> {
            let batch = rows(answer, limit)?;
            let mut writer = Writer::new(format, &batch.table, BufWriter::new(new.file()))?;
            writer.write(&batch.rows)?;
            Ok(writer.finish()?.flush()?)
        };
        written().map_err(|error| failed(&error))?;
        new.finish().map_err(|why| failed(&why))
    }
}

fn failed(name: &str, why: &dyn Display) -> Stop {
    Stop::Output(io::Error::other(format!("{}: {why}", Escaped(name))))
}

/// The first rows of an answer.
pub fn rows(answer: &Answer, limit: usize) -> Result<Batch, Error> {
    Ok(sums(columns(answer, limit))?)
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
