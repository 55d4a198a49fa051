//! A macro that defines the columns of a table: one line states the builder, the type and the field of a column.

use crate::keys::guid;
use crate::schema;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Int32Builder, Int64Builder, ListBuilder, PrimitiveBuilder,
    TimestampNanosecondBuilder, UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{FixedSizeBinaryArray, StringArray};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Field};
use etw_layouts_etl::Uuid;

/// A builder of a column.
pub(crate) trait Column {
    fn empty() -> Self;
    fn field(name: &str, is_nullable: bool) -> Field;
}

/// Builder of a column of texts that are written in place.
#[derive(Debug)]
pub(crate) struct TextBuilder {
    /// The texts so far. The text of the next row is appended before [`end`](Self::end).
    pub bytes: Vec<u8>,
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl TextBuilder {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Ends rows without a value.
    pub fn append_nulls(&mut self, count: usize) {
        (0..count).for_each(|_| self.end(false));
    }

    /// The length of the text of the next row so far.
    pub fn length(&self) -> usize {
        self.bytes.len() - self.start()
    }

    /// Removes the text of the next row.
    pub fn clear(&mut self) {
        self.bytes.truncate(self.start());
    }

    /// Ends a row, which has no value if not `is_valid`.
    pub fn end(&mut self, is_valid: bool) {
        // A batch is complete long before 2 GiB.
        self.ends.push(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX));
        self.nulls.append(is_valid);
    }

    fn start(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Removes all rows. Bytes that are not UTF-8 are replaced.
    pub fn finish(&mut self) -> StringArray {
        let (bytes, nulls) = (Buffer::from_vec(std::mem::take(&mut self.bytes)), self.nulls.finish());
        let offsets = OffsetBuffer::new(std::mem::replace(&mut self.ends, vec![0]).into());
        StringArray::try_new(offsets.clone(), bytes.clone(), nulls.clone()).unwrap_or_else(|_| {
            let text = |(row, range): (usize, &[i32])| {
                let is_valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
                is_valid.then(|| String::from_utf8_lossy(&bytes[range[0] as usize..range[1] as usize]))
            };
            offsets.windows(2).enumerate().map(text).collect()
        })
    }
}

/// A builder of a column whose values are those of the kinds of the rows.
pub(crate) trait Spread<V> {
    /// Appends the value of the kind of each row. `kinds` has the value of each kind.
    fn spread(&mut self, rows: &[u32], kinds: Vec<Option<V>>);
}

impl<T: ArrowPrimitiveType> Spread<T::Native> for PrimitiveBuilder<T> {
    fn spread(&mut self, rows: &[u32], kinds: Vec<Option<T::Native>>) {
        let values: Vec<_> = kinds.iter().map(|value| value.unwrap_or_default()).collect();
        let values: Vec<_> = rows.iter().map(|kind| values[*kind as usize]).collect();
        match nulls(rows, &kinds) {
            Nulls::None => self.append_slice(&values),
            Nulls::All => self.append_nulls(rows.len()),
            Nulls::Some(is_valid) => self.append_values(&values, &is_valid),
        }
    }
}

impl Spread<Uuid> for FixedSizeBinaryBuilder {
    fn spread(&mut self, rows: &[u32], kinds: Vec<Option<Uuid>>) {
        match nulls(rows, &kinds) {
            Nulls::None => {
                let values: Vec<_> = kinds.iter().map(|guid| guid.unwrap_or_default().into_bytes()).collect();
                let values: Vec<_> = rows.iter().map(|kind| values[*kind as usize]).collect();
                let values = FixedSizeBinaryArray::new(16, Buffer::from_vec(values.into_flattened()), None);
                // The array has the width of the builder.
                drop(self.append_array(&values));
            }
            Nulls::All => self.append_nulls(rows.len()),
            Nulls::Some(_) => rows.iter().for_each(|kind| guid(self, kinds[*kind as usize])),
        }
    }
}

/// Which rows have no value.
enum Nulls {
    None,
    All,
    Some(Vec<bool>),
}

fn nulls<V>(rows: &[u32], kinds: &[Option<V>]) -> Nulls {
    let is_valid: Vec<bool> = kinds.iter().map(Option::is_some).collect();
    let is_valid: Vec<bool> = rows.iter().map(|kind| is_valid[*kind as usize]).collect();
    match is_valid.iter().filter(|is_valid| **is_valid).count() {
        0 => Nulls::All,
        count if count == rows.len() => Nulls::None,
        _ => Nulls::Some(is_valid),
    }
}

/// Builder of a column of names, as their numbers in a dictionary.
pub(crate) type NameBuilder = Int32Builder;

/// Defines a structure of columns, one per line, in order. A line states the name, whether the value can be missing, and the builder. A
/// column of names also states its dictionary, a member of the argument of `take`. With `@kind` before the builder, the value is the member
/// of this name in the kind of the row; otherwise the value is appended.
macro_rules! columns {
    (
        $(#[$doc:meta])*
        $vis:vis struct $columns:ident of $names:ty, $kind:ty {
            $($column:ident: $presence:ident $(@$by:ident)? $builder:ty $(=> $dictionary:ident)?,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        $vis struct $columns {
            $($column: $builder),+
        }

        impl Default for $columns {
            fn default() -> Self {
                Self { $($column: $crate::columns::Column::empty()),+ }
            }
        }

        impl $columns {
            /// The columns, in order.
            pub fn fields() -> Vec<arrow_schema::Field> {
                use $crate::columns::Column;
                const REQUIRED: bool = false;
                const OPTIONAL: bool = true;
                vec![$(<$builder>::field(stringify!($column), $presence)),+]
            }

            #[allow(unused_variables, reason = "a table can have no columns of kinds")]
            /// Removes all rows, and returns their columns. `rows` are the kinds of the rows, as indices of `kinds`.
            pub fn take(
                &mut self,
                rows: &[u32],
                kinds: &[$kind],
                names: &mut $names,
            ) -> Result<Vec<arrow_array::ArrayRef>, arrow_schema::ArrowError> {
                $($(
                    let $by = kinds.iter().map(|kind| kind.$column).collect();
                    $crate::columns::Spread::spread(&mut self.$column, rows, $by);
                )?)+
                Ok(vec![$($crate::columns::columns!(@take self.$column, names $($dictionary)?)),+])
            }
        }
    };
    (@take $builder:expr, $names:ident) => { std::sync::Arc::new($builder.finish()) };
    (@take $builder:expr, $names:ident $dictionary:ident) => { $names.$dictionary.column($builder.finish())? };
}
pub(crate) use columns;

macro_rules! builders {
    ($($builder:ty, $field:expr, $empty:expr;)+) => {
        $(impl Column for $builder {
            fn empty() -> Self {
                $empty
            }

            fn field(name: &str, is_nullable: bool) -> Field {
                $field(name, is_nullable)
            }
        })+
    };
}

/// A field of a type.
fn of(ty: DataType) -> impl Fn(&str, bool) -> Field {
    move |name, is_nullable| Field::new(name, ty.clone(), is_nullable)
}

builders! {
    BooleanBuilder, of(DataType::Boolean), Self::with_capacity(0);
    UInt8Builder, of(DataType::UInt8), Self::with_capacity(0);
    UInt16Builder, of(DataType::UInt16), Self::with_capacity(0);
    UInt32Builder, of(DataType::UInt32), Self::with_capacity(0);
    UInt64Builder, of(DataType::UInt64), Self::with_capacity(0);
    Int64Builder, of(DataType::Int64), Self::with_capacity(0);
    NameBuilder, of(schema::name()), Self::with_capacity(0);
    TimestampNanosecondBuilder, of(schema::time()), Self::with_capacity(0).with_data_type(schema::time());
    FixedSizeBinaryBuilder, |name, _| schema::guid(name), Self::with_capacity(0, 16);
    TextBuilder, of(DataType::Utf8), Self { bytes: Vec::new(), ends: vec![0], nulls: NullBufferBuilder::new(0) };
    BinaryBuilder, of(DataType::Binary), Self::new();
    ListBuilder<UInt64Builder>, of(DataType::new_list(DataType::UInt64, true)), Self::new(UInt64Builder::with_capacity(0));
}
