//! Schemas of the tables.

use arrow_schema::extension::{EXTENSION_TYPE_NAME_KEY, Uuid};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use etw_layouts_etl::FileTime;
use std::collections::HashMap;
use std::sync::Arc;

/// The version of the tables. It is incremented if a release removes or changes a column, but not if a release adds a column.
pub const VERSION: u32 = 2;

/// The key of the version in the metadata of a schema.
pub const VERSION_KEY: &str = "etw.version";

/// The key of the table's name in the metadata of a schema: `events`, `stacks`, `traces`, or for a table of one event `PROVIDER/EVENT`.
pub const TABLE_KEY: &str = "etw.table";

/// The key of the types of a field in the metadata of its column, if the versions of the event have several, such as `uint16 uint32`.
pub const TYPES_KEY: &str = "etw.types";

/// Time zone of all times.
const UTC: &str = "UTC";

pub(crate) fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into()))
}

/// Names, each stored once.
pub(crate) fn name() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// A GUID as 16 bytes, in the order of its text.
pub(crate) fn guid(name: &str) -> Field {
    let metadata =
        HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_owned(), <Uuid as arrow_schema::extension::ExtensionType>::NAME.to_owned())]);
    Field::new(name, DataType::FixedSizeBinary(16), true).with_metadata(metadata)
}

/// A schema with the version and the name of its table.
pub(crate) fn table(name: &str, fields: Vec<Field>, more: &[(&str, String)]) -> Arc<Schema> {
    let mut metadata = HashMap::from([(VERSION_KEY.to_owned(), VERSION.to_string()), (TABLE_KEY.to_owned(), name.to_owned())]);
    metadata.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// Converts system time in units of 100 ns since 1601 to nanoseconds since 1970; `None` outside the years 1677 to 2262.
#[inline]
pub(crate) fn nanoseconds(time: i64) -> Option<i64> {
    time.checked_sub(FileTime::UNIX_EPOCH.0)?.checked_mul(100)
}
