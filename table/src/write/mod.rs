//! Files of tables: Parquet, Arrow, CSV and JSON.

mod descriptions;
mod parquet;
mod retain;
mod text;

use crate::{Error, Table};
use arrow_array::RecordBatch;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions};
pub use retain::retain;
use std::io::Write;

/// Maximum number of rows of a file. The writer of a Parquet file keeps the index of its pages in memory until the file is complete.
pub const ROWS: u64 = 1 << 25;

/// The format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Parquet, compressed with zstd. Columns of numbers, and the columns `trace` and `host`, have statistics.
    Parquet,
    /// The file format of Arrow, also called Feather.
    Arrow,
    /// Comma-separated values.
    Csv,
    /// One JSON object per line.
    Jsonl,
}

impl Format {
    /// The extension of file names, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }
}

/// Writes the batches of one table and of one [generation](crate::Batch::generation) to a file.
pub struct Writer<W: Write + Send> {
    kind: Kind<W>,
    /// Number of columns, including members of structures.
    columns: usize,
}

/// Approximate memory for a column of an open file, in bytes.
const COLUMN: usize = 2 << 10;

enum Kind<W: Write + Send> {
    Parquet(Box<parquet::Writer<W>>),
    Arrow(Box<FileWriter<W>>),
    Text(W, Format, text::Text),
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn new(format: Format, table: &Table, mut out: W) -> Result<Self, Error> {
        let columns = table.schema.flattened_fields().len();
        let kind = match format {
            Format::Parquet => Kind::Parquet(Box::new(parquet::Writer::new(table, out)?)),
            Format::Arrow => {
                let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
                Kind::Arrow(Box::new(FileWriter::try_new_with_options(out, &table.schema, options)?))
            }
            Format::Csv => {
                let mut text = text::Text::new(table);
                out.write_all(text.heading(&table.schema))?;
                Kind::Text(out, format, text)
            }
            Format::Jsonl => Kind::Text(out, format, text::Text::new(table)),
        };
        Ok(Self { kind, columns })
    }

    /// Writes rows.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Parquet(writer) => writer.write(rows),
            Kind::Arrow(writer) => Ok(writer.write(rows)?),
            Kind::Text(out, Format::Csv, text) => text.csv(rows, out),
            Kind::Text(out, _, text) => text.json(rows, out),
        }
    }

    /// Writes the rows that are in memory. In Parquet, they become a row group.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Parquet(writer) => writer.flush(),
            Kind::Arrow(_) | Kind::Text(..) => Ok(()),
        }
    }

    /// Approximate memory of the writer, in bytes: column state, rows not yet in the file, and the data for the end of the file.
    pub fn memory(&self) -> usize {
        self.columns * COLUMN
            + match &self.kind {
                Kind::Parquet(writer) => writer.memory(self.columns),
                Kind::Arrow(_) | Kind::Text(..) => 0,
            }
    }

    /// Whether there are rows that [`flush`](Self::flush) writes.
    pub fn has_rows(&self) -> bool {
        matches!(&self.kind, Kind::Parquet(writer) if writer.has_rows())
    }

    /// Completes the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(self) -> Result<W, Error> {
        Ok(match self.kind {
            Kind::Parquet(writer) => writer.finish()?,
            Kind::Arrow(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
            Kind::Text(mut out, ..) => {
                out.flush()?;
                out
            }
        })
    }
}
