//! The specs of event payloads, with the place of every fact.

mod types;

pub use types::{IN_TYPES, InType, Kind, OUT_TYPES, OutType};

use crate::source::{At, Span};

/// A class of events, as one file states it. A class may have several files.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name, such as `Process`.
    pub name: At<String>,
    /// The constant of `EVENT_TRACE_GROUP` that its events belong to.
    pub group: Option<At<String>>,
    /// The GUID of a class without a group, as 32 hexadecimal digits with dashes.
    pub guid: Option<At<String>>,
    /// The sources that describe the class.
    pub source: Vec<At<String>>,
    /// Description of its events.
    pub doc: String,
    /// Its events, in the order of the file.
    pub events: Vec<Event>,
}

/// One list of fields, for some event types and versions.
#[derive(Clone, Debug)]
pub struct Event {
    /// The event types, in the order of their numbers.
    pub types: Vec<EventType>,
    /// The versions of the event.
    pub versions: At<Versions>,
    /// The fields that identify who did it.
    pub by: Party,
    /// The fields that identify whom it is about.
    pub about: Party,
    /// The question that no source answers; empty without such a question.
    pub unsettled: String,
    /// Description of the event.
    pub doc: String,
    /// The fields of all versions, in the order of the payload.
    pub fields: Vec<Field>,
    /// Wrong statements of sources.
    pub errata: Vec<Erratum>,
    /// The whole table.
    pub span: Span,
}

/// A type of events.
#[derive(Clone, Debug)]
pub struct EventType {
    /// Its name, such as `Start`.
    pub name: At<String>,
    /// Its number, the low byte of the hook.
    pub number: u8,
    /// The versions of this type; `None` for those of the event.
    pub versions: Option<At<Versions>>,
    /// The group in the hook; `None` for that of the class.
    pub group: Option<At<String>>,
}

/// The fields of a payload that identify a process and a thread. A version of the event that lacks the field does not state it.
#[derive(Clone, Debug, Default)]
pub struct Party {
    /// The field with the identifier of the process.
    pub process: Option<At<String>>,
    /// The field with the identifier of the thread.
    pub thread: Option<At<String>>,
}

/// A provider with a manifest, for which the specs state who did its events and whom they are about.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Its name.
    pub name: At<String>,
    /// Its GUID, as 32 hexadecimal digits with dashes.
    pub guid: At<String>,
    /// The sources that describe its events.
    pub source: Vec<At<String>>,
    /// Description of its events.
    pub doc: String,
    /// Its events, in the order of the file.
    pub events: Vec<ProviderEvent>,
}

/// Events of a provider.
#[derive(Clone, Debug)]
pub struct ProviderEvent {
    /// The event IDs.
    pub ids: Vec<At<u16>>,
    /// Their versions; `None` for all.
    pub versions: Option<At<Versions>>,
    /// The fields that identify who did it.
    pub by: Party,
    /// The fields that identify whom it is about.
    pub about: Party,
}

/// Versions of an event, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The first.
    pub first: u8,
    /// The last; 255 if the range is open.
    pub last: u8,
}

/// A field of a payload.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: At<String>,
    /// The encoding of its values.
    pub ty: At<&'static InType>,
    /// The number of values, for an array.
    pub count: Option<At<Size>>,
    /// The length of a value: bytes of binary data, characters of strings.
    pub length: Option<At<Size>>,
    /// The output format of its values, if the type does not determine it.
    pub out: Option<At<&'static OutType>>,
    /// The enumeration or flags of its values.
    pub values: Option<At<String>>,
    /// The versions that have it; `None` for all of the event.
    pub versions: Option<At<Versions>>,
    /// The pointer size in bytes, if only traces with this size have the field: padding of structures.
    pub pointer: Option<u8>,
    /// Whether payloads of the same version may end before it.
    pub optional: bool,
    /// The question that no source answers; empty without such a question.
    pub unsettled: String,
    /// Description, with the unit.
    pub doc: String,
    /// The members of a structure.
    pub fields: Vec<Field>,
}

/// A count or length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// A fixed number.
    Number(u16),
    /// As many as the value of an earlier field.
    Field(String),
    /// The rest of the payload.
    Rest,
}

/// A statement of a source that is wrong.
#[derive(Clone, Debug)]
pub struct Erratum {
    /// The field, or its name in the source if the specs do not have it.
    pub field: At<String>,
    /// The source.
    pub source: At<String>,
    /// The versions that the statement covers; `None` for all of the event.
    pub versions: Option<At<Versions>>,
    /// The statement of the source.
    pub states: At<String>,
    /// The actual fact.
    pub actual: At<String>,
    /// The explanation.
    pub doc: String,
    /// The whole table.
    pub span: Span,
}

impl Versions {
    /// Whether a version is among them.
    pub fn contains(self, version: u8) -> bool {
        (self.first..=self.last).contains(&version)
    }

    /// The versions, in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = u8> {
        self.first..=self.last
    }

    /// Whether any version is in both ranges.
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl core::fmt::Display for Versions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match (self.first, self.last) {
            (first, last) if first == last => write!(f, "{first}"),
            (0, u8::MAX) => f.write_str("0.."),
            (first, u8::MAX) => write!(f, "{first}.."),
            (first, last) => write!(f, "{first}..{last}"),
        }
    }
}

impl ProviderEvent {
    /// Their versions.
    pub fn versions(&self) -> Versions {
        self.versions.as_ref().map_or(Versions { first: 0, last: u8::MAX }, |versions| versions.value)
    }
}

impl Event {
    /// The fields of a version, without the members of structures.
    pub fn of(&self, version: u8) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(move |field| field.is_in(version))
    }

    /// The versions of one of its types.
    pub fn versions_of(&self, ty: &EventType) -> Versions {
        ty.versions.as_ref().map_or(self.versions.value, |versions| versions.value)
    }

    /// The offset and the size of a field in bytes, each with pointers of 4 and of 8 bytes. `None` if the version lacks the field, or if
    /// its offset or size varies.
    pub fn place(&self, name: &str, version: u8) -> Option<([u64; 2], [u64; 2])> {
        let mut at = [0; 2];
        for field in self.of(version) {
            let size = field.size(version)?;
            if field.name.value == name {
                return Some((at, size));
            }
            at = add(at, size);
        }
        None
    }

    /// Each event type with each of its versions.
    pub fn each(&self) -> impl Iterator<Item = (&EventType, u8)> {
        self.types.iter().flat_map(|ty| self.versions_of(ty).iter().map(move |version| (ty, version)))
    }
}

impl Field {
    /// Whether a version of the event has it.
    pub fn is_in(&self, version: u8) -> bool {
        self.versions.as_ref().is_none_or(|versions| versions.value.contains(version))
    }

    /// The members that a version of the event has.
    pub fn of(&self, version: u8) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(move |field| field.is_in(version))
    }

    /// Its size in bytes with pointers of 4 and of 8 bytes; `None` if it varies.
    pub fn size(&self, version: u8) -> Option<[u64; 2]> {
        let count = match self.count.as_ref().map(|count| &count.value) {
            None => 1,
            Some(Size::Number(count)) => u64::from(*count),
            Some(Size::Field(_) | Size::Rest) => return None,
        };
        let one = match (self.ty.value.kind, self.length.as_ref().map(|length| &length.value)) {
            (Kind::Structure, _) => self.of(version).try_fold([0; 2], |sum, field| Some(add(sum, field.size(version)?)))?,
            (_, None) => self.ty.value.size?,
            (_, Some(Size::Number(length))) => [u64::from(*length) * self.ty.value.unit; 2],
            (_, Some(Size::Field(_) | Size::Rest)) => return None,
        };
        let [in_32, in_64] = one.map(|size| size.saturating_mul(count));
        Some([if self.pointer == Some(8) { 0 } else { in_32 }, if self.pointer == Some(4) { 0 } else { in_64 }])
    }

    /// Whether its end is only known from the end of the payload.
    pub fn is_open(&self) -> bool {
        let is_rest = |size: &Option<At<Size>>| size.as_ref().is_some_and(|size| size.value == Size::Rest);
        is_rest(&self.count) || is_rest(&self.length) || self.ty.value.is_open() && self.length.is_none()
    }

    /// Its type in the spelling of errata and tables: `UInt32`, `UInt8[16]`, `Pointer[Count]`, `Binary(Length)`.
    pub fn spelled(&self) -> String {
        let length = self.length.as_ref().map(|length| format!("({})", length.value)).unwrap_or_default();
        let count = self.count.as_ref().map(|count| format!("[{}]", count.value)).unwrap_or_default();
        format!("{}{length}{count}", self.ty.value.name)
    }
}

fn add(one: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    [one[0].saturating_add(other[0]), one[1].saturating_add(other[1])]
}

impl core::fmt::Display for Size {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Field(name) => f.write_str(name),
            Self::Rest => f.write_str("*"),
        }
    }
}
