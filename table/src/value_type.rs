//! The types of columns with values.

use arrow_schema::DataType;
use etw_layouts_etl::payload::{InType, OutType};

/// Defines the types of columns. A line has the type in a table, and the name in the metadata of a column.
macro_rules! types {
    ($($ty:ident: $data_type:expr, $name:literal;)+) => {
        /// The type of a column, which can represent all values of its field.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Type {
            $($ty),+
        }

        impl Type {
            /// The type in a table.
            pub fn data_type(self) -> DataType {
                match self {
                    $(Self::$ty => $data_type),+
                }
            }

            /// The name of the type in the metadata of a column.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$ty => $name),+
                }
            }
        }
    };
}

types! {
    I8: DataType::Int8, "int8";
    I16: DataType::Int16, "int16";
    I32: DataType::Int32, "int32";
    I64: DataType::Int64, "int64";
    U8: DataType::UInt8, "uint8";
    U16: DataType::UInt16, "uint16";
    U32: DataType::UInt32, "uint32";
    U64: DataType::UInt64, "uint64";
    F32: DataType::Float32, "float32";
    F64: DataType::Float64, "float64";
    Boolean: DataType::Boolean, "Boolean";
    Text: DataType::Utf8, "text";
    Bytes: DataType::Binary, "bytes";
    Guid: DataType::FixedSizeBinary(16), "GUID";
    Time: crate::schema::time(), "time";
}

/// The types of the values of a field in all versions of an event.
#[derive(Clone, Debug)]
pub(crate) struct Types {
    /// The type of the column.
    pub ty: Type,
    /// The types of the versions, without repetitions.
    all: Vec<Type>,
    /// Whether numbers have names in a version.
    pub is_named: bool,
}

impl Types {
    /// The type in a version. `has_names` states whether values have names.
    pub fn new(ty: Type, has_names: bool) -> Self {
        Self { ty, all: vec![ty], is_named: has_names && ty.is_integer() }
    }

    /// Adds the types of other versions.
    pub fn add(&mut self, other: &Self) {
        for ty in &other.all {
            if !self.all.contains(ty) {
                self.all.push(*ty);
            }
        }
        self.ty = self.all.iter().copied().reduce(Type::widened).unwrap_or(Type::Text);
        self.is_named |= other.is_named;
    }

    /// The names of the types, if there are several.
    pub fn several(&self) -> Option<String> {
        (self.all.len() > 1).then(|| self.all.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(" "))
    }
}

impl Type {
    /// The type for a field.
    pub fn of(in_type: InType, out: OutType) -> Self {
        match (in_type, out) {
            (InType::INT8 | InType::UINT8 | InType::UINT16, OutType::STRING) => Self::Text,
            (InType::UINT8 | InType::UINT16 | InType::UINT32, OutType::BOOLEAN) | (InType::BOOLEAN, _) => Self::Boolean,
            (InType::UINT32, OutType::IPV4) => Self::Text,
            (
                InType::INT64 | InType::UINT64,
                OutType::ETWTIME
                | OutType::DATETIME
                | OutType::DATETIME_UTC
                | OutType::CULTURE_INSENSITIVE_DATETIME
                | OutType::CIMDATETIME,
            )
            | (InType::FILETIME, _) => Self::Time,
            (InType::INT8, _) => Self::I8,
            (InType::INT16, _) => Self::I16,
            (InType::INT32, OutType::HRESULT | OutType::NTSTATUS | OutType::HEXINT32) => Self::U32,
            (InType::INT32, _) => Self::I32,
            (InType::INT64, _) => Self::I64,
            (InType::UINT8, _) => Self::U8,
            (InType::UINT16, _) => Self::U16,
            (InType::UINT32 | InType::HEXINT32, _) => Self::U32,
            (InType::UINT64 | InType::HEXINT64 | InType::POINTER | InType::SIZET, _) => Self::U64,
            (InType::FLOAT, _) => Self::F32,
            (InType::DOUBLE, _) => Self::F64,
            (InType::GUID, _) => Self::Guid,
            (InType::BINARY | InType::MANIFEST_COUNTEDBINARY | InType::HEXDUMP, OutType::IPV6 | OutType::SOCKETADDRESS) => {
                Self::Text
            }
            (InType::BINARY | InType::MANIFEST_COUNTEDBINARY | InType::HEXDUMP, _) => Self::Bytes,
            // Strings, security identifiers, SYSTEMTIME (which states no time zone), and all other values as text.
            _ => Self::Text,
        }
    }

    /// The smallest type that represents the values of both types; text if there is no other.
    pub fn widened(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        match (self.integer(), other.integer()) {
            (Some((false, one)), Some((false, other))) => [Self::U8, Self::U16, Self::U32, Self::U64][one.max(other)],
            (Some((true, one)), Some((true, other))) => [Self::I8, Self::I16, Self::I32, Self::I64][one.max(other)],
            (Some((is_signed, one)), Some((_, other))) => {
                // A signed type represents the values of an unsigned one of half its size.
                let (signed, unsigned) = if is_signed { (one, other) } else { (other, one) };
                [Self::I8, Self::I16, Self::I32, Self::I64].get(signed.max(unsigned + 1)).copied().unwrap_or(Self::Text)
            }
            _ if matches!((self, other), (Self::F32, Self::F64) | (Self::F64, Self::F32)) => Self::F64,
            _ => Self::Text,
        }
    }

    /// Whether it is an integer and not a Boolean.
    pub fn is_integer(self) -> bool {
        self != Self::Boolean && self.integer().is_some()
    }

    /// Whether the values are integers and signed, and the binary logarithm of their size in bytes. A Boolean has up to 32 bits.
    fn integer(self) -> Option<(bool, usize)> {
        Some(match self {
            Self::I8 => (true, 0),
            Self::I16 => (true, 1),
            Self::I32 => (true, 2),
            Self::I64 => (true, 3),
            Self::U8 => (false, 0),
            Self::U16 => (false, 1),
            Self::U32 | Self::Boolean => (false, 2),
            Self::U64 => (false, 3),
            _ => return None,
        })
    }

    /// An integer of this type with the sign in all 64 bits.
    pub fn extended(self, number: u64) -> u64 {
        match self {
            Self::I8 => i64::from(number as i8) as u64,
            Self::I16 => i64::from(number as i16) as u64,
            Self::I32 => i64::from(number as i32) as u64,
            _ => number,
        }
    }

    /// The additional column of the numbers of times before conversion, and of Booleans other than 0 and 1: the end of its name.
    pub fn raw(self) -> Option<&'static str> {
        match self {
            Self::Time => Some("_tick"),
            Self::Boolean => Some("_number"),
            _ => None,
        }
    }
}
