//! Schemas of events: names, and fields in the order of the payload.

use crate::fault::FaultKind;
use crate::map::{Map, ValueMap};
use crate::packed::{FieldRecord, Library};
use crate::tracelogging;
use crate::types::{InType, OutType};
use core::fmt;

/// The schema of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema<'a> {
    /// Name of the provider or of the event class, such as `Process`; empty if the schema does not contain it.
    pub provider: &'a str,
    /// Name of the event, such as `Start`.
    pub event: &'a str,
    /// Version of the event; 0 if its source has no versions.
    pub version: u8,
    /// Bits with a meaning that the provider defines.
    pub tags: u32,
    /// The source of the schema.
    pub source: Source,
    /// The fields.
    pub fields: FieldList<'a>,
}

/// Source of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The event record itself: a TraceLogging schema.
    TraceLogging,
    /// The header of the event: a flag states that the payload is a text.
    Header,
    /// The event specs of this project.
    Specs,
    /// The trace: another event that describes this one, which merging added.
    Trace,
    /// A manifest in the trace, written by an EventSource.
    EventSource,
    /// A manifest file.
    Manifest,
    /// A Windows binary with the resources of a manifest.
    Binary,
    /// The catalogue of this project.
    Catalogue,
}

/// The fields of a schema, in the form of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldList<'a> {
    /// A table. Fields refer to each other by index.
    Table {
        /// All fields, including members of structures.
        all: &'a [Field<'a>],
        /// Number of top-level fields, if the members of structures are at the end of the table. If members directly follow their
        /// structure, the length of the table.
        top: u16,
    },
    /// The encoded fields of a TraceLogging schema.
    TraceLogging(&'a [u8]),
    /// Fields of a library. Fields refer to each other by index. Members directly follow their structure.
    Packed {
        /// The library.
        library: Library<'a>,
        /// Offset of the first field.
        first: u32,
        /// Number of all fields, including members of structures.
        count: u16,
    },
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field<'a> {
    /// Name of the field.
    pub name: &'a str,
    /// Encoding of the values.
    pub in_type: InType,
    /// Display format of the values; [`OutType::NULL`] for the default of the encoding.
    pub out_type: OutType,
    /// Number of values.
    pub count: Count<'a>,
    /// Length of each value.
    pub length: Length,
    /// Names of values.
    pub map: Option<ValueMap<'a>>,
    /// Members of a structure ([`InType::STRUCT`]).
    pub members: Members,
    /// Whether the value is the count or length of later fields.
    pub is_size: bool,
    /// Whether payloads can end before this field.
    pub is_optional: bool,
    /// Pointer size in bytes (4 or 8) of the payloads that contain this array; 0 if all do.
    pub pointer: u8,
    /// Bits with a meaning that the provider defines.
    pub tags: u32,
}

/// Number of values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count<'a> {
    /// One.
    One,
    /// An array with this number of elements.
    Constant(u16),
    /// An array. Its number of elements is the value of the earlier field with this index in the table.
    Field(u16),
    /// An array that extends to the end of the payload. Its elements have a fixed size.
    Rest,
    /// An array preceded in the payload by its number of elements, in 16 bits.
    Variable,
    /// Bytes in a serialization format of the provider (TlgInCUSTOM), preceded in the payload by their length in 16 bits. The slice is the
    /// provider's description of the format.
    Custom(&'a [u8]),
}

/// Length of a value: in bytes for [`InType::BINARY`], in characters for strings. For other types, the type determines the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Length {
    /// Determined by the type: terminated, counted, or to the end of the payload.
    Type,
    /// This number of bytes or characters.
    Constant(u16),
    /// The value of the earlier field with this index in the table.
    Field(u16),
    /// Stated in 16 bits before the value.
    Variable,
}

/// Members of a structure: consecutive fields of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// Index of the first member in the table; `None` if the members directly follow the field of the structure.
    pub first: Option<u16>,
    /// Number of members, without members of members.
    pub count: u16,
}

impl<'a> Schema<'a> {
    /// A schema from the event specs of this project. Members directly follow the field of their structure.
    pub const fn specified(class: &'a str, event: &'a str, version: u8, fields: &'a [Field<'a>]) -> Self {
        Self::table(class, event, version, fields, fields.len() as u16)
    }

    /// A schema as in [`specified`](Self::specified), but with the members of structures at the end of the table, after the first `top`
    /// fields.
    pub const fn table(class: &'a str, event: &'a str, version: u8, all: &'a [Field<'a>], top: u16) -> Self {
        Self { provider: class, event, version, tags: 0, source: Source::Specs, fields: FieldList::Table { all, top } }
    }

    /// The fields of a table, including members of structures; empty for other lists.
    pub const fn fields_of_table(&self) -> &'a [Field<'a>] {
        match self.fields {
            FieldList::Table { all, .. } => all,
            _ => &[],
        }
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

    /// A structure. Its members are the next `members` fields.
    pub const fn structure(name: &'a str, members: u16) -> Self {
        let field = Self::new(name, InType::STRUCT);
        Self { members: Members { first: None, count: members }, ..field }
    }

    /// Sets the display format of the values.
    pub const fn out(self, out_type: OutType) -> Self {
        Self { out_type, ..self }
    }

    /// Sets the number of values.
    pub const fn count(self, count: Count<'a>) -> Self {
        Self { count, ..self }
    }

    /// Sets the length of each value.
    pub const fn length(self, length: Length) -> Self {
        Self { length, ..self }
    }

    /// Sets the names of values.
    pub const fn map(self, map: &'a Map<'a>) -> Self {
        Self { map: Some(ValueMap::table(map)), ..self }
    }

    /// Sets the members of a structure.
    pub const fn members(self, members: Members) -> Self {
        Self { members, ..self }
    }

    /// Marks the field as the count or length of later fields.
    pub const fn size(self) -> Self {
        Self { is_size: true, ..self }
    }

    /// Marks the field as optional: payloads can end before it.
    pub const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Restricts an array to payloads with pointers of this size in bytes; in other payloads it has no elements.
    pub const fn pointer(self, bytes: u8) -> Self {
        Self { pointer: bytes, ..self }
    }

    /// Whether the values are structures.
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

    /// The number of the source in libraries; `None` for sources that libraries do not have.
    pub fn number(self) -> Option<u32> {
        Self::NUMBERS.iter().find(|(_, source)| *source == self).map(|(number, _)| *number)
    }
}

impl<'a> FieldList<'a> {
    /// All fields, with members directly after their structure. The iterator ends at an invalid field.
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

    /// The field at a position, and the position of the next one. Positions of TraceLogging are offsets in the encoded schema, others are indices.
    pub(crate) fn read(&self, at: u32) -> Result<(Field<'a>, u32), FaultKind> {
        match *self {
            Self::Table { all, .. } => all.get(at as usize).map(|field| (*field, at + 1)).ok_or(FaultKind::Members),
            Self::TraceLogging(bytes) => {
                let mut rest = bytes.get(at as usize..).filter(|rest| !rest.is_empty()).ok_or(FaultKind::Members)?;
                let field = tracelogging::field(&mut rest)?;
                Ok((field, (bytes.len() - rest.len()) as u32))
            }
            Self::Packed { library, first, count } => match FieldRecord::at(library, first, at) {
                Some(record) if at < count.into() => Ok((record.field(), at + 1)),
                _ => Err(FaultKind::Members),
            },
        }
    }

    /// The fields of a table before the members at its end; empty for an encoded schema.
    #[inline]
    pub(crate) fn top(&self) -> &'a [Field<'a>] {
        match *self {
            Self::Table { all, top } => all.get(..top.into()).unwrap_or(all),
            Self::TraceLogging(_) | Self::Packed { .. } => &[],
        }
    }

    /// The library and the records of all fields; empty for other lists.
    #[inline]
    pub(crate) fn records(&self) -> (Library<'a>, &'a [u8]) {
        match *self {
            Self::Packed { library, first, count } => (library, FieldRecord::all(library, first, count)),
            _ => (Library::EMPTY, &[]),
        }
    }

    /// The end position of the fields before the members at the end of a table.
    pub(crate) fn end(&self) -> u32 {
        match self {
            Self::Table { .. } => self.top().len() as u32,
            Self::TraceLogging(bytes) => bytes.len() as u32,
            Self::Packed { count, .. } => (*count).into(),
        }
    }

    /// The size of the schema in bytes, for the work limit.
    pub(crate) fn extent(&self) -> usize {
        match self {
            Self::Table { all, .. } => 16 * all.len(),
            Self::TraceLogging(bytes) => bytes.len(),
            Self::Packed { count, .. } => 16 * usize::from(*count),
        }
    }
}
