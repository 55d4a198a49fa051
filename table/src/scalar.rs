//! The column of a field with one value.

use crate::columns::{Column, TextBuilder};
use crate::dictionary::Dictionary;
use crate::keys::guid;
use crate::schema;
use crate::value_type::{Type, Types};
use arrow_array::ArrayRef;
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Float32Builder, Float64Builder, Int8Builder,
    Int16Builder, Int32Builder, Int64Builder, TimestampNanosecondBuilder, UInt8Builder, UInt16Builder, UInt32Builder,
    UInt64Builder,
};
use arrow_schema::{ArrowError, DataType, Field};
use etw_layouts_etl::Clock;
use etw_layouts_etl::payload::{Data, Text, Value, ValueMap};
use std::fmt::Write;
use std::sync::Arc;

/// The column of a field. A number with names has an additional column for the name, a time or a Boolean one for the number.
#[derive(Debug)]
pub(crate) struct Scalar {
    name: String,
    ty: Type,
    /// The types in all versions of the event, if they have several.
    widened: Option<String>,
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

/// Defines the builders of values. A line has a type of columns, and its builder without rows.
macro_rules! values {
    ($($ty:ident: $builder:ty, $empty:expr;)+) => {
        #[derive(Debug)]
        enum Values {
            $($ty($builder)),+
        }

        impl Values {
            fn new(ty: Type) -> Self {
                match ty {
                    $(Type::$ty => Self::$ty($empty)),+
                }
            }

            fn len(&self) -> usize {
                match self {
                    $(Self::$ty(values) => values.len()),+
                }
            }

            fn append_nulls(&mut self, count: usize) {
                match self {
                    $(Self::$ty(values) => values.append_nulls(count)),+
                }
            }

            /// Removes all rows.
            fn finish(&mut self) -> ArrayRef {
                match self {
                    $(Self::$ty(values) => Arc::new(values.finish())),+
                }
            }
        }
    };
}

values! {
    I8: Int8Builder, Int8Builder::with_capacity(0);
    I16: Int16Builder, Int16Builder::with_capacity(0);
    I32: Int32Builder, Int32Builder::with_capacity(0);
    I64: Int64Builder, Int64Builder::with_capacity(0);
    U8: UInt8Builder, UInt8Builder::with_capacity(0);
    U16: UInt16Builder, UInt16Builder::with_capacity(0);
    U32: UInt32Builder, UInt32Builder::with_capacity(0);
    U64: UInt64Builder, UInt64Builder::with_capacity(0);
    F32: Float32Builder, Float32Builder::with_capacity(0);
    F64: Float64Builder, Float64Builder::with_capacity(0);
    Boolean: BooleanBuilder, BooleanBuilder::with_capacity(0);
    Text: TextBuilder, TextBuilder::empty();
    Bytes: BinaryBuilder, BinaryBuilder::new();
    Guid: FixedSizeBinaryBuilder, FixedSizeBinaryBuilder::with_capacity(0, 16);
    Time: TimestampNanosecondBuilder, TimestampNanosecondBuilder::empty();
}

impl Scalar {
    pub fn new(name: String, types: &Types) -> Self {
        let Types { ty, is_named, .. } = *types;
        let raw = ty.raw().map(|end| (end, Int64Builder::with_capacity(0)));
        let (values, named) = (Values::new(ty), is_named.then(Named::default));
        Self { name, ty, widened: types.several(), values, named, raw, text: String::new() }
    }

    pub fn fields(&self) -> Vec<Field> {
        let mut field = match self.ty {
            Type::Guid => schema::guid(&self.name),
            ty => Field::new(&self.name, ty.data_type(), true),
        };
        if let Some(types) = &self.widened {
            field.metadata_mut().insert(schema::TYPES_KEY.to_owned(), types.clone());
        }
        let mut fields = vec![field];
        if self.named.is_some() {
            fields.push(Field::new(format!("{}_name", self.name), schema::name(), true));
        }
        if let Some((end, _)) = &self.raw {
            fields.push(Field::new(format!("{}{end}", self.name), DataType::Int64, true));
        }
        fields
    }

    /// Adds a value. `map` returns its names. Returns the memory for a new name, in bytes.
    #[inline]
    pub fn add<'a>(&mut self, value: &Value<'a>, map: impl FnOnce() -> Option<ValueMap<'a>>, clock: &Clock) -> usize {
        let is_widened = self.widened.is_some();
        let number = || {
            let number = value.number().unwrap_or_default();
            if is_widened { Type::of(value.in_type, value.out_type).extended(number) } else { number }
        };
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
                    // A time is a text only if other versions of the event have other types.
                    let data = match data {
                        Data::Ticks(ticks) => clock.time(ticks).map_or(data, |time| Data::FileTime(time.0)),
                        data => data,
                    };
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
                    Data::Ticks(ticks) => (clock.time(ticks).map(|time| time.0), Some(ticks)),
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

    pub fn rows(&self) -> usize {
        self.values.len()
    }

    pub fn add_nulls(&mut self, count: usize) {
        self.values.append_nulls(count);
        if let Some(Named { numbers, .. }) = &mut self.named {
            numbers.append_nulls(count);
        }
        if let Some((_, raw)) = &mut self.raw {
            raw.append_nulls(count);
        }
    }

    pub fn take(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays = vec![self.values.finish()];
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
