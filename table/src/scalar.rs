//! The column of a field with one value.

use crate::columns::{Column, TextBuilder};
use crate::dictionary::Dictionary;
use crate::keys::guid;
use crate::schema;
use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Float32Builder, Float64Builder, Int8Builder, Int16Builder,
    Int32Builder, Int64Builder, TimestampNanosecondBuilder, UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_schema::{ArrowError, DataType, Field};
use etw_layouts_etl::Clock;
use etw_layouts_etl::payload::{Data, Field as SchemaField, InType, OutType, Text, Value, ValueMap};
use std::fmt::Write;
use std::sync::Arc;

/// The column of a field. A number with names has an additional column for the name, a time or a Boolean one for the number.
#[derive(Debug)]
pub(crate) struct Scalar {
    name: String,
    values: Values,
    /// The names of values of an enumeration or flags.
    named: Option<Named>,
    /// The numbers of times before conversion, and of Booleans other than 0 and 1; with the end of the name of their column.
    raw: Option<(&'static str, Int64Builder)>,
    text: String,
}

/// Size of the names of a column, in bytes, from which they are discarded after a batch.
const NAMES: usize = 1 << 12;

/// A column of the names of numbers.
#[derive(Debug, Default)]
struct Named {
    numbers: Int32Builder,
    names: Dictionary,
    /// The latest number, and its name.
    last: Option<(u64, Option<i32>)>,
}

#[derive(Debug)]
enum Values {
    I8(Int8Builder),
    I16(Int16Builder),
    I32(Int32Builder),
    I64(Int64Builder),
    U8(UInt8Builder),
    U16(UInt16Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    F32(Float32Builder),
    F64(Float64Builder),
    Boolean(BooleanBuilder),
    Text(TextBuilder),
    Bytes(BinaryBuilder),
    Guid(FixedSizeBinaryBuilder),
    Time(TimestampNanosecondBuilder),
}

impl Scalar {
    pub fn new(name: String, field: &SchemaField<'_>) -> Self {
        let values = Values::of(field.in_type, field.out_type);
        let is_number = matches!(
            values,
            Values::I8(_)
                | Values::I16(_)
                | Values::I32(_)
                | Values::I64(_)
                | Values::U8(_)
                | Values::U16(_)
                | Values::U32(_)
                | Values::U64(_)
        );
        let named = (field.map.is_some() && is_number).then(Named::default);
        let raw = match values {
            Values::Time(_) => Some(("tick", Int64Builder::with_capacity(0))),
            Values::Boolean(_) => Some(("number", Int64Builder::with_capacity(0))),
            _ => None,
        };
        Self { name, values, named, raw, text: String::new() }
    }

    pub fn fields(&self) -> Vec<Field> {
        let field = |ty| Field::new(&self.name, ty, true);
        let mut fields = vec![match &self.values {
            Values::I8(_) => field(DataType::Int8),
            Values::I16(_) => field(DataType::Int16),
            Values::I32(_) => field(DataType::Int32),
            Values::I64(_) => field(DataType::Int64),
            Values::U8(_) => field(DataType::UInt8),
            Values::U16(_) => field(DataType::UInt16),
            Values::U32(_) => field(DataType::UInt32),
            Values::U64(_) => field(DataType::UInt64),
            Values::F32(_) => field(DataType::Float32),
            Values::F64(_) => field(DataType::Float64),
            Values::Boolean(_) => field(DataType::Boolean),
            Values::Text(_) => field(DataType::Utf8),
            Values::Bytes(_) => field(DataType::Binary),
            Values::Guid(_) => schema::guid(&self.name),
            Values::Time(_) => field(schema::time()),
        }];
        if self.named.is_some() {
            fields.push(Field::new(format!("{}_name", self.name), schema::name(), true));
        }
        if let Some((end, _)) = &self.raw {
            fields.push(Field::new(format!("{}_{end}", self.name), DataType::Int64, true));
        }
        fields
    }

    /// Adds a value. `map` returns its names. Returns the memory for a new name, in bytes.
    #[inline]
    pub fn add<'a>(&mut self, value: &Value<'a>, map: impl FnOnce() -> Option<ValueMap<'a>>, clock: &Clock) -> usize {
        let number = || value.number().unwrap_or_default();
        match &mut self.values {
            Values::U32(values) => values.append_value(number() as u32),
            Values::U64(values) => values.append_value(number()),
            Values::U16(values) => values.append_value(number() as u16),
            Values::U8(values) => values.append_value(number() as u8),
            Values::I32(values) => values.append_value(number() as i32),
            Values::I64(values) => values.append_value(number() as i64),
            Values::I16(values) => values.append_value(number() as i16),
            Values::I8(values) => values.append_value(number() as i8),
            Values::Text(values) => match value.data() {
                Data::Absent => values.end(false),
                data => {
                    if !plain(&data, &mut values.bytes) {
                        // Writing to memory cannot fail.
                        let _ = std::io::Write::write_fmt(&mut values.bytes, format_args!("{data}"));
                    }
                    values.end(true);
                }
            },
            Values::Boolean(values) => {
                // A number other than 0 and 1 is neither false nor true.
                let (is, number) = match value.data() {
                    Data::Boolean(is) => (Some(is), None),
                    _ => (None, value.number().map(|number| number as i64)),
                };
                values.append_option(is);
                if let Some((_, column)) = &mut self.raw {
                    column.append_option(number);
                }
            }
            Values::Bytes(values) => values.append_value(value.bytes),
            Values::F32(values) => values.append_option(if let Data::Float(number) = value.data() { Some(number) } else { None }),
            Values::F64(values) => {
                values.append_option(if let Data::Double(number) = value.data() { Some(number) } else { None })
            }
            Values::Guid(values) => guid(values, if let Data::Guid(guid) = value.data() { Some(guid) } else { None }),
            Values::Time(values) => {
                let (time, raw) = match value.data() {
                    Data::FileTime(time) => (Some(time), Some(time)),
                    Data::Ticks(ticks) => (Some(clock.system_time(ticks)), Some(ticks)),
                    _ => (None, None),
                };
                // 0 means that there is no time.
                values.append_option(time.filter(|_| raw != Some(0)).and_then(schema::nanoseconds));
                if let Some((_, column)) = &mut self.raw {
                    column.append_option(raw);
                }
            }
        }
        let mut memory = 0;
        if let Some(Named { numbers, names, last }) = &mut self.named {
            let number = number();
            let name = match *last {
                Some((own, name)) if own == number => name,
                _ => {
                    let (value, before) = (value.with_map(map()), names.size());
                    let name = self::name(&value, number, &mut self.text).then(|| names.add(&self.text));
                    memory = names.size() - before;
                    *last = Some((number, name));
                    name
                }
            };
            numbers.append_option(name);
        }
        memory
    }

    /// Forgets the latest name, because the next event has another schema.
    pub fn forget_name(&mut self) {
        if let Some(Named { last, .. }) = &mut self.named {
            *last = None;
        }
    }

    pub fn add_null(&mut self) {
        match &mut self.values {
            Values::I8(values) => values.append_null(),
            Values::I16(values) => values.append_null(),
            Values::I32(values) => values.append_null(),
            Values::I64(values) => values.append_null(),
            Values::U8(values) => values.append_null(),
            Values::U16(values) => values.append_null(),
            Values::U32(values) => values.append_null(),
            Values::U64(values) => values.append_null(),
            Values::F32(values) => values.append_null(),
            Values::F64(values) => values.append_null(),
            Values::Boolean(values) => values.append_null(),
            Values::Text(values) => values.end(false),
            Values::Bytes(values) => values.append_null(),
            Values::Guid(values) => values.append_null(),
            Values::Time(values) => values.append_null(),
        }
        if let Some(Named { numbers, .. }) = &mut self.named {
            numbers.append_null();
        }
        if let Some((_, raw)) = &mut self.raw {
            raw.append_null();
        }
    }

    pub fn take(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays: Vec<ArrayRef> = vec![match &mut self.values {
            Values::I8(values) => Arc::new(values.finish()),
            Values::I16(values) => Arc::new(values.finish()),
            Values::I32(values) => Arc::new(values.finish()),
            Values::I64(values) => Arc::new(values.finish()),
            Values::U8(values) => Arc::new(values.finish()),
            Values::U16(values) => Arc::new(values.finish()),
            Values::U32(values) => Arc::new(values.finish()),
            Values::U64(values) => Arc::new(values.finish()),
            Values::F32(values) => Arc::new(values.finish()),
            Values::F64(values) => Arc::new(values.finish()),
            Values::Boolean(values) => Arc::new(values.finish()),
            Values::Text(values) => Arc::new(values.finish()),
            Values::Bytes(values) => Arc::new(values.finish()),
            Values::Guid(values) => Arc::new(values.finish()),
            Values::Time(values) => Arc::new(values.finish()),
        }];
        if let Some(named) = &mut self.named {
            arrays.push(named.names.column(named.numbers.finish())?);
            if named.names.size() > NAMES {
                *named = Named::default();
            }
        }
        if let Some((_, raw)) = &mut self.raw {
            arrays.push(Arc::new(raw.finish()));
        }
        Ok(arrays)
    }
}

/// Writes a value that is a text, without `core::fmt`. Returns whether it is one.
#[inline]
fn plain(data: &Data<'_>, out: &mut Vec<u8>) -> bool {
    let Data::Text(text) = data else { return false };
    match text {
        Text::Utf16(bytes) if is_ascii(bytes) => out.extend(bytes.iter().step_by(2)),
        Text::Utf8(bytes) | Text::Cp1252(bytes) if bytes.is_ascii() => out.extend_from_slice(bytes),
        _ => text.chars().for_each(|c| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes())),
    }
    true
}

/// Whether UTF-16 has only characters of ASCII, and no odd last byte.
fn is_ascii(bytes: &[u8]) -> bool {
    let (units, odd) = bytes.as_chunks::<2>();
    odd.is_empty() && units.iter().fold(0, |all, unit| all | u16::from_le_bytes(*unit)) < 0x80
}

/// Writes the name of a value. Returns whether it has one.
fn name(value: &Value<'_>, number: u64, out: &mut String) -> bool {
    use etw_layouts_etl::payload::MapKind;
    out.clear();
    let Some(map) = value.map else { return false };
    match map.value_name(number) {
        Some(name) => out.push_str(name),
        None if map.kind() == MapKind::Flags && number != 0 => {
            let _ = write!(out, "{value}");
        }
        None => return false,
    }
    true
}

impl Values {
    /// The type of a column. It can represent all values of the field.
    fn of(in_type: InType, out: OutType) -> Self {
        match (in_type, out) {
            (InType::INT8 | InType::UINT8 | InType::UINT16, OutType::STRING) => Self::text(),
            (InType::UINT8 | InType::UINT16 | InType::UINT32, OutType::BOOLEAN) | (InType::BOOLEAN, _) => {
                Self::Boolean(BooleanBuilder::with_capacity(0))
            }
            (InType::UINT32, OutType::IPV4) => Self::text(),
            (
                InType::INT64 | InType::UINT64,
                OutType::ETWTIME
                | OutType::DATETIME
                | OutType::DATETIME_UTC
                | OutType::CULTURE_INSENSITIVE_DATETIME
                | OutType::CIMDATETIME,
            )
            | (InType::FILETIME, _) => Self::Time(TimestampNanosecondBuilder::with_capacity(0).with_data_type(schema::time())),
            (InType::INT8, _) => Self::I8(Int8Builder::with_capacity(0)),
            (InType::INT16, _) => Self::I16(Int16Builder::with_capacity(0)),
            (InType::INT32, OutType::HRESULT | OutType::NTSTATUS | OutType::HEXINT32) => {
                Self::U32(UInt32Builder::with_capacity(0))
            }
            (InType::INT32, _) => Self::I32(Int32Builder::with_capacity(0)),
            (InType::INT64, _) => Self::I64(Int64Builder::with_capacity(0)),
            (InType::UINT8, _) => Self::U8(UInt8Builder::with_capacity(0)),
            (InType::UINT16, _) => Self::U16(UInt16Builder::with_capacity(0)),
            (InType::UINT32 | InType::HEXINT32, _) => Self::U32(UInt32Builder::with_capacity(0)),
            (InType::UINT64 | InType::HEXINT64 | InType::POINTER | InType::SIZET, _) => {
                Self::U64(UInt64Builder::with_capacity(0))
            }
            (InType::FLOAT, _) => Self::F32(Float32Builder::with_capacity(0)),
            (InType::DOUBLE, _) => Self::F64(Float64Builder::with_capacity(0)),
            (InType::GUID, _) => Self::Guid(FixedSizeBinaryBuilder::with_capacity(0, 16)),
            (InType::BINARY | InType::MANIFEST_COUNTEDBINARY | InType::HEXDUMP, OutType::IPV6 | OutType::SOCKETADDRESS) => {
                Self::text()
            }
            (InType::BINARY | InType::MANIFEST_COUNTEDBINARY | InType::HEXDUMP, _) => Self::Bytes(BinaryBuilder::new()),
            // Strings, security identifiers, SYSTEMTIME (which states no time zone), and all other values as text.
            _ => Self::text(),
        }
    }

    fn text() -> Self {
        Self::Text(TextBuilder::empty())
    }
}
