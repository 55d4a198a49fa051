//! Parquet files.

use super::descriptions;
use crate::{Error, Kind, Table};
use arrow_array::RecordBatch;
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use std::collections::BTreeMap;
use std::io::Write;

/// Writes a file with row groups of limited size.
pub(super) struct Writer<W: Write + Send>(ArrowWriter<W>);

/// The key of the descriptions of columns in the metadata of a file: a JSON object.
const COLUMNS_KEY: &str = "etw.columns";

/// Maximum number of rows of a row group. Engines use the statistics of row groups to skip them.
const ROWS: usize = 1 << 19;
/// Size at which a row group ends, in bytes.
const BYTES: usize = 32 << 20;

/// Maximum number of columns of a compressed table, including members of structures. Each column of a row group has its own state of zstd, of 300 KB.
const WIDE: usize = 128;
/// Memory for a column of the open row group, in bytes, that its writer does not count: the state of the compression. Measured with parquet 60.1 as
/// the memory of the process for 1,000 columns with one row.
const OPEN: usize = 20 << 10;
/// Approximate memory for the place and the statistics of a column of a complete row group, in bytes.
const CHUNK: usize = 1 << 10;

/// Columns of numbers with few values, which vary from row to row.
const VARYING: [&str; 7] = ["processor", "process", "thread", "header_process", "header_thread", "kernel_time", "user_time"];
/// Columns of names that many rows in a sequence have in common.
const CONSTANT: [&str; 2] = ["trace", "host"];

/// The metadata of the schema, which only readers of Arrow find in it, and the descriptions of columns.
fn key_values(table: &Table) -> Vec<KeyValue> {
    let own: BTreeMap<_, _> = table.schema.metadata().iter().collect();
    let own = own.into_iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    own.chain([KeyValue::new(COLUMNS_KEY.to_owned(), descriptions::of(table))]).collect()
}

impl<W: Write + Send> Writer<W> {
    pub fn new(table: &Table, out: W) -> Result<Self, Error> {
        let path = |name: &str| ColumnPath::from(name);
        let is_wide = table.schema.flattened_fields().len() > WIDE;
        let is_compressed = cfg!(feature = "zstd") && !is_wide;
        let compression = if !is_compressed { Compression::UNCOMPRESSED } else { Compression::ZSTD(ZstdLevel::try_new(1)?) };
        let mut properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(compression)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(ROWS))
            .set_created_by(concat!("etw-layouts-table version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(key_values(table)));
        // The values of these columns increase and rarely repeat.
        for name in ["sequence", "time", "tick"] {
            properties = properties
                .set_column_dictionary_enabled(path(name), false)
                .set_column_encoding(path(name), Encoding::DELTA_BINARY_PACKED);
        }
        for field in table.schema.fields() {
            let name = field.name().as_str();
            let is_number = field.data_type().is_primitive() || name == "provider_guid";
            // In the table of an event, zstd makes most numbers as small as a dictionary does, and needs less time.
            if matches!(table.kind, Kind::Event { .. }) && is_number && !VARYING.contains(&name) {
                properties = properties.set_column_dictionary_enabled(path(name), false);
            }
            // Row groups have nearly all names and texts, so their first and last one exclude no row group.
            let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::Dictionary(..));
            if is_text && !CONSTANT.contains(&name) {
                properties = properties.set_column_statistics_enabled(path(name), EnabledStatistics::None);
            }
        }
        for name in ["fields", "payload"] {
            properties = properties
                .set_column_dictionary_enabled(path(name), false)
                .set_column_statistics_enabled(path(name), EnabledStatistics::None);
        }
        Ok(Self(ArrowWriter::try_new(out, table.schema.clone(), Some(properties.build()))?))
    }

    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        self.0.write(rows)?;
        if self.0.in_progress_size() >= BYTES {
            self.0.flush()?;
        }
        Ok(())
    }

    pub fn flush(&mut self) -> Result<(), Error> {
        Ok(self.0.flush()?)
    }

    pub fn memory(&self, columns: usize) -> usize {
        let open = if self.has_rows() { OPEN } else { 0 };
        self.0.memory_size() + columns * (open + CHUNK * self.0.flushed_row_groups().len())
    }

    pub fn has_rows(&self) -> bool {
        self.0.in_progress_rows() > 0
    }

    pub fn finish(self) -> Result<W, Error> {
        Ok(self.0.into_inner()?)
    }
}
