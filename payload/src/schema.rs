//! The schema of an event: its names, and its fields in the order of the payload.

use crate::fault::Reason;
use crate::fields::Fields;
use crate::map::{Map, ValueMap};
use crate::packed::{FieldRecord, Library};
use crate::size::PointerSize;
use crate::tracelogging;
use crate::types::{InType, OutType};
use core::fmt;

/// The schema of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema<'a> {
    /// The provider or event class, such as `Process`; empty if the schema does not name it.
    pub provider: &'a str,
    /// The event, such as `Start`.
    pub event: &'a str,
    /// The version of the event; 0 where events have none.
    pub version: u8,
    /// Bits whose meaning the provider defines.
    pub tags: u32,
    /// Where the schema is from.
    pub source: Source,
    /// The fields.
    pub fields: FieldList<'a>,
}

/// Where a schema is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The event itself, as TraceLogging has it.
    TraceLogging,
    /// The event specs of this project.
    Specs,
    /// The trace: a description of the event in another event, as merging adds them.
    Trace,
    /// A manifest in the trace, which its EventSource wrote.
    EventSource,
    /// A manifest file.
    Manifest,
    /// A Windows binary with the resources of a manifest.
    Binary,
    /// The catalogue of this project.
    Catalogue,
}

/// The fields of a schema, as its source has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldList<'a> {
    /// A table. Fields refer to each other by index.
    Table {
        /// All fields, those of structures among them.
        all: &'a [Field<'a>],
        /// Number of fields that are no member of a structure at the table's end: the first ones. The number of all, if members are behind
        /// their structures.
        top: u16,
    },
    /// The fields of a TraceLogging schema, as they are encoded.
    TraceLogging(&'a [u8]),
    /// Fields of a library. Fields refer to each other by index; members of structures are behind them.
    Packed {
        /// The library.
        library: Library<'a>,
        /// Offset of the first field.
        first: u32,
        /// Number of all fields, those of structures among them.
        count: u16,
    },
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// How its values are encoded.
    pub in_type: InType,
    /// How they are shown; [`OutType::NULL`] if by the encoding alone.
    pub out_type: OutType,
    /// Number of its values.
    pub count: Count<'a>,
    /// Length of a value.
    pub length: Length,
    /// Names of its values.
    pub map: Option<ValueMap<'a>>,
    /// Of a structure ([`InType::STRUCT`]), its members.
    pub members: Members,
    /// Whether later fields have its value as their count or length.
    pub is_size: bool,
    /// Whether payloads may end before it.
    pub is_optional: bool,
    /// Of an array that only payloads with pointers of one size have, that size in bytes; else 0.
    pub pointer: u8,
    /// Bits whose meaning the provider defines.
    pub tags: u32,
}

/// Number of values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count<'a> {
    /// One.
    One,
    /// An array of this length.
    Constant(u16),
    /// An array whose length is the value of the earlier field with this index in the table.
    Field(u16),
    /// An array of as many values of fixed size as the payload holds to its end.
    Rest,
    /// An array with its length, 16 bits, before it in the payload.
    Variable,
    /// Bytes with their length, 16 bits, before them, which a serializer of the provider has written, with its own description.
    Custom(&'a [u8]),
}

/// Length of a value: bytes of [`InType::BINARY`], characters of strings. Other types have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Length {
    /// As the type has it: terminated, counted, or to the end of the payload.
    Type,
    /// This many.
    Constant(u16),
    /// As many as the value of the earlier field with this index in the table.
    Field(u16),
    /// As many as 16 bits before the value state.
    Variable,
}

/// Members of a structure: fields one after the other in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// Index of the first; `None` if it is behind the structure's field.
    pub first: Option<u16>,
    /// How many they are; members of members are not counted.
    pub count: u16,
}

impl<'a> Schema<'a> {
    /// The schema of an event of this project's specs. Members of structures are behind the structures' fields.
    pub const fn specified(class: &'a str, event: &'a str, version: u8, fields: &'a [Field<'a>]) -> Self {
        Self::table(class, event, version, fields, fields.len() as u16)
    }

    /// The same with members of structures behind all other fields, of which there are as many as `top`.
    pub const fn table(class: &'a str, event: &'a str, version: u8, all: &'a [Field<'a>], top: u16) -> Self {
        Self { provider: class, event, version, tags: 0, source: Source::Specs, fields: FieldList::Table { all, top } }
    }

    /// A payload with this schema. The size of pointers is that of the process or kernel that wrote the event, as its header states it.
    #[inline]
    pub fn decode(&self, payload: &'a [u8], pointers: PointerSize) -> Fields<'a> {
        Fields { schema: *self, payload, pointers }
    }
}

/// The provider or class, and the event: `Process/Start`.
impl fmt::Display for Schema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.event)
    }
}

impl<'a> Field<'a> {
    /// A field with one value of a type.
    pub const fn new(name: &'a str, in_type: InType) -> Self {
        Self {
            name,
            in_type,
            out_type: OutType::NULL,
            count: Count::One,
            length: Length::Type,
            map: None,
            members: Members { first: None, count: 0 },
            is_size: false,
            is_optional: false,
            pointer: 0,
            tags: 0,
        }
    }

    /// A structure with so many members, the fields behind it.
    pub const fn structure(name: &'a str, members: u16) -> Self {
        let field = Self::new(name, InType::STRUCT);
        Self { members: Members { first: None, count: members }, ..field }
    }

    /// The same, shown in another way.
    pub const fn out(self, out_type: OutType) -> Self {
        Self { out_type, ..self }
    }

    /// The same with another number of values.
    pub const fn count(self, count: Count<'a>) -> Self {
        Self { count, ..self }
    }

    /// The same with values of another length.
    pub const fn length(self, length: Length) -> Self {
        Self { length, ..self }
    }

    /// The same with names of its values.
    pub const fn map(self, map: &'a Map<'a>) -> Self {
        Self { map: Some(ValueMap::table(map)), ..self }
    }

    /// The same structure with other members.
    pub const fn members(self, members: Members) -> Self {
        Self { members, ..self }
    }

    /// The same, whose value is the count or length of later fields.
    pub const fn size(self) -> Self {
        Self { is_size: true, ..self }
    }

    /// The same, which payloads may end before.
    pub const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// The same array, of which only payloads with pointers of so many bytes have elements.
    pub const fn pointer(self, bytes: u8) -> Self {
        Self { pointer: bytes, ..self }
    }

    /// Whether its values are structures.
    pub const fn is_structure(&self) -> bool {
        self.in_type.0 == InType::STRUCT.0 && !matches!(self.count, Count::Custom(_))
    }
}

impl Source {
    /// Numbers of sources in libraries.
    const NUMBERS: [(u32, Self); 5] =
        [(1, Self::Trace), (2, Self::EventSource), (3, Self::Manifest), (4, Self::Binary), (5, Self::Catalogue)];

    /// The source with a number in libraries.
    pub(crate) fn of(number: u32) -> Option<Self> {
        Self::NUMBERS.iter().find(|(known, _)| *known == number).map(|(_, source)| *source)
    }

    /// Its number in libraries; `None` for sources that are in none.
    pub fn number(self) -> Option<u32> {
        Self::NUMBERS.iter().find(|(_, source)| *source == self).map(|(number, _)| *number)
    }
}

impl<'a> FieldList<'a> {
    /// All fields, those of structures behind the structure. It ends at what is no field.
    pub fn iter(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let (list, mut at) = (*self, 0);
        let end = match list {
            Self::Table { all, .. } => all.len() as u32,
            _ => list.end(),
        };
        core::iter::from_fn(move || {
            let (field, behind) = list.read(at).ok().filter(|_| at < end)?;
            at = behind;
            Some(field)
        })
    }

    /// The field at a position, and the position behind it. Positions of TraceLogging are offsets, others are indices.
    pub(crate) fn read(&self, at: u32) -> Result<(Field<'a>, u32), Reason> {
        match *self {
            Self::Table { all, .. } => all.get(at as usize).map(|field| (*field, at + 1)).ok_or(Reason::Members),
            Self::TraceLogging(bytes) => {
                let mut rest = bytes.get(at as usize..).filter(|rest| !rest.is_empty()).ok_or(Reason::Members)?;
                let field = tracelogging::field(&mut rest)?;
                Ok((field, (bytes.len() - rest.len()) as u32))
            }
            Self::Packed { library, first, count } => match FieldRecord::at(library, first, at) {
                Some(record) if at < count.into() => Ok((record.field()?, at + 1)),
                _ => Err(Reason::Members),
            },
        }
    }

    /// Of a table, the fields that are no members at its end.
    #[inline]
    pub(crate) fn top(&self) -> &'a [Field<'a>] {
        match *self {
            Self::Table { all, top } => all.get(..top.into()).unwrap_or(all),
            Self::TraceLogging(_) | Self::Packed { .. } => &[],
        }
    }

    /// Of a library, the records of all fields.
    #[inline]
    pub(crate) fn records(&self) -> (Library<'a>, &'a [u8]) {
        match *self {
            Self::Packed { library, first, count } => (library, FieldRecord::all(library, first, count)),
            _ => (Library::EMPTY, &[]),
        }
    }

    /// The position behind the last field that is no member at the end of a table.
    pub(crate) fn end(&self) -> u32 {
        match self {
            Self::Table { .. } => self.top().len() as u32,
            Self::TraceLogging(bytes) => bytes.len() as u32,
            Self::Packed { count, .. } => (*count).into(),
        }
    }

    /// A measure of how much they say, in bytes.
    pub(crate) fn extent(&self) -> usize {
        match self {
            Self::Table { all, .. } => 16 * all.len(),
            Self::TraceLogging(bytes) => bytes.len(),
            Self::Packed { count, .. } => 16 * usize::from(*count),
        }
    }
}
