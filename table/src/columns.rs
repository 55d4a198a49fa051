//! A macro that defines the columns of a table: one line states the builder, the type and the field of a column.

use crate::schema;
use arrow_array::builder::{
    BinaryBuilder, FixedSizeBinaryBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder, TimestampNanosecondBuilder,
    UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_schema::{DataType, Field};

/// A builder of a column.
pub(crate) trait Column {
    fn empty() -> Self;
    fn field(name: &str, is_nullable: bool) -> Field;
}

/// Builder of a column of names, as their numbers in a dictionary.
pub(crate) type NameBuilder = Int32Builder;

/// Defines a structure of columns in the order of its lines. A line has the name, whether each row has a value, and the builder. For names, it
/// also has the dictionary, a member of the argument of `take`.
macro_rules! columns {
    (
        $(#[$doc:meta])*
        $vis:vis struct $columns:ident of $names:ty {
            $($column:ident: $presence:ident $builder:ty $(=> $dictionary:ident)?,)+
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

            /// Removes all rows, and returns their columns.
            pub fn take(&mut self, names: &mut $names) -> Result<Vec<arrow_array::ArrayRef>, arrow_schema::ArrowError> {
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
    UInt8Builder, of(DataType::UInt8), Self::with_capacity(0);
    UInt16Builder, of(DataType::UInt16), Self::with_capacity(0);
    UInt32Builder, of(DataType::UInt32), Self::with_capacity(0);
    UInt64Builder, of(DataType::UInt64), Self::with_capacity(0);
    Int64Builder, of(DataType::Int64), Self::with_capacity(0);
    NameBuilder, of(schema::name()), Self::with_capacity(0);
    TimestampNanosecondBuilder, of(schema::time()), Self::with_capacity(0).with_data_type(schema::time());
    FixedSizeBinaryBuilder, |name, _| schema::guid(name), Self::with_capacity(0, 16);
    StringBuilder, of(DataType::Utf8), Self::new();
    BinaryBuilder, of(DataType::Binary), Self::new();
    ListBuilder<UInt64Builder>, of(DataType::new_list(DataType::UInt64, true)), Self::new(UInt64Builder::with_capacity(0));
}
