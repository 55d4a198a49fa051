//! The events of a provider as plain data: the result of every reader.

use etw_layouts_payload::{InType, MapKind, OutType, Uuid};
use std::ops::Deref;

/// Maximum nesting of structures. It is equal to the limit for decoding payloads.
pub(crate) const DEPTH: usize = 32;

/// A provider and its events, as one source describes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// GUID of the provider. For a MOF class, the GUID of the class, which is in the headers of its events.
    pub guid: Uuid,
    /// Name, such as `Microsoft-Windows-Kernel-Process`; empty if the source has none.
    pub name: String,
    /// Display name from the message table; empty if the source has none.
    pub message: String,
    /// Keywords of the provider, including those without events.
    pub keywords: Vec<Keyword>,
    /// Enumerations and flags to which [`Field::map`] refers.
    pub maps: Vec<Map>,
    /// Events.
    pub events: Vec<Event>,
}

/// A keyword: a bit of the keyword mask of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keyword {
    /// Its bit; `None` if the source has only the name.
    pub mask: Option<u64>,
    /// Name, such as `WINEVENT_KEYWORD_PROCESS`.
    pub name: String,
}

/// A task, opcode, level or channel of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Number in the event descriptor; `None` if the source has only the name.
    pub value: Option<u32>,
    /// Name, such as `Start`, without a prefix `win:`; empty if the source has only the number.
    pub name: String,
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Event ID.
    pub id: u16,
    /// Version.
    pub version: u8,
    /// Whether the event belongs to a MOF class. Such an event has no ID: opcode and version identify it in its class.
    pub is_classic: bool,
    /// Channel.
    pub channel: Name,
    /// Level.
    pub level: Name,
    /// Opcode.
    pub opcode: Name,
    /// Task.
    pub task: Name,
    /// Keyword mask of the event; `None` if the source has only names.
    pub keyword_mask: Option<u64>,
    /// Keywords of the event by name.
    pub keywords: Vec<String>,
    /// Symbol in the manifest, or the name of an EventSource event; empty if there is none.
    pub symbol: String,
    /// Message with insertions `%1`, `%2`; empty if the source has none.
    pub message: String,
    /// Fields in the order of the payload; `None` if the source does not state them.
    pub fields: Option<Vec<Field>>,
}

/// A field of a payload, or a member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Encoding of its values; [`InType::STRUCT`] for a structure.
    pub in_type: InType,
    /// Display format of its values; [`OutType::NULL`] if the source does not state it.
    pub out_type: OutType,
    /// Number of values.
    pub count: Count,
    /// Length of a value.
    pub length: Length,
    /// Index in [`Provider::maps`].
    pub map: Option<usize>,
    /// Members of a structure.
    pub members: Vec<Field>,
    /// Tags (28 bits) that the provider defines.
    pub tags: u32,
}

/// Number of values of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// One value, not an array.
    #[default]
    One,
    /// An array of this length.
    Constant(u16),
    /// An array with its length in an earlier field. The field is in the same list of fields or in that of an enclosing structure.
    Field(FieldReference),
}

/// Length of a value: bytes of binary data, characters of a string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// Determined by the type: fixed, terminated, counted, or to the end of the payload.
    #[default]
    Type,
    /// A constant length.
    Constant(u16),
    /// The value of an earlier field. The field is in the same list of fields or in that of an enclosing structure.
    Field(FieldReference),
}

/// A reference to an earlier field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldReference {
    /// Name of the field.
    pub name: String,
    /// The position of the field among all fields of the event, each followed by its members, if its name is that of a later field too.
    pub position: Option<u16>,
}

impl<T: Into<String>> From<T> for FieldReference {
    fn from(name: T) -> Self {
        Self { name: name.into(), position: None }
    }
}

/// The name of the field.
impl Deref for FieldReference {
    type Target = str;

    fn deref(&self) -> &str {
        &self.name
    }
}

/// An enumeration or flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Name.
    pub name: String,
    /// Whether values are numbers or bits.
    pub kind: MapKind,
    /// Values with their names, in the order of the source.
    pub entries: Vec<MapEntry>,
}

/// A value of a map with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapEntry {
    /// Value, or bits of flags.
    pub value: u64,
    /// Name: the symbol in the source, or the text of its message.
    pub name: String,
}

impl Field {
    /// A field with one value of a type.
    pub fn new(name: impl Into<String>, in_type: InType) -> Self {
        Self {
            name: name.into(),
            in_type,
            out_type: OutType::NULL,
            count: Count::One,
            length: Length::Type,
            map: None,
            members: Vec::new(),
            tags: 0,
        }
    }
}

impl Event {
    /// The name of the event in output, without the provider: `TASK/OPCODE`, `TASK` if the opcode is unnamed or `Info`, the symbol without a task;
    /// `None` if the source has no name.
    pub fn display_name(&self) -> Option<String> {
        let opcode = match self.opcode.name.as_str() {
            "" | "Info" => None,
            name => Some(name),
        };
        match (self.task.name.as_str(), opcode, self.symbol.as_str()) {
            ("", _, "") => None,
            ("", _, symbol) => Some(symbol.to_owned()),
            (task, Some(opcode), _) => Some(format!("{task}/{opcode}")),
            (task, None, _) => Some(task.to_owned()),
        }
    }
}

/// A name in a manifest without the prefix `win:`.
pub(crate) fn bare(name: &str) -> &str {
    name.strip_prefix("win:").unwrap_or(name)
}
