//! Structure of an ISF document. Types remain unparsed text until needed.

use super::error::{Error, Fault};
use crate::identity::{self, Pdb};
use crate::model::{Arch, Globals, Machine};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::borrow::{Borrow, Cow};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Formatter};
use std::marker::PhantomData;
use uuid::Uuid;

/// The relevant sections.
pub(super) struct Document<'a> {
    metadata: Metadata,
    /// Text of the base types.
    pub base_text: &'a str,
    pub base_types: BTreeMap<Name<'a>, BaseType>,
    pub user_types: Unread<'a>,
    pub enums: Unread<'a>,
    /// Addresses of the wanted symbols.
    pub globals: Globals,
}

/// Texts of values by key.
pub(super) type Unread<'a> = BTreeMap<Name<'a>, &'a RawValue>;

/// A name, borrowed from the text if it has no escapes there.
#[derive(PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub(super) struct Name<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Borrow<str> for Name<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Splits a document into its types, and reads the symbols with the given names.
pub(super) fn parse<'a>(text: &'a str, names: &BTreeSet<&str>) -> Result<Document<'a>, Error> {
    let Sections { metadata, base_types, user_types, enums, symbols } = parse_value(text, text)?;
    let globals = symbols.map_or(Ok(Globals::new()), |symbols| {
        let symbols = symbols.get();
        let read = Symbols(names).deserialize(&mut serde_json::Deserializer::from_str(symbols));
        read.map_err(|error| fault(text, symbols, &error))
    })?;
    let (base_text, Unique(base_types)) = (base_types.get(), parse_value(text, base_types.get())?);
    Ok(Document { metadata, base_text, base_types, user_types, enums, globals })
}

/// With duplicate keys, the intended value is unknown.
fn twice(key: &str) -> String {
    format!("duplicate key `{}`", key.escape_debug())
}

/// A map with unique keys.
struct Unique<'a, V>(BTreeMap<Name<'a>, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Unique<'de, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        unique(deserializer).map(Unique)
    }
}

fn unique<'de, D: Deserializer<'de>, V: Deserialize<'de>>(deserializer: D) -> Result<BTreeMap<Name<'de>, V>, D::Error> {
    struct Entries<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
        type Value = BTreeMap<Name<'de>, V>;

        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(key) = access.next_key::<Name<'de>>()? {
                match map.entry(key) {
                    Entry::Vacant(entry) => drop(entry.insert(access.next_value()?)),
                    Entry::Occupied(entry) => return Err(A::Error::custom(twice(&entry.key().0))),
                }
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Entries(PhantomData))
}

/// Addresses of the symbols with the given names.
struct Symbols<'n>(&'n BTreeSet<&'n str>);

impl<'de> DeserializeSeed<'de> for Symbols<'_> {
    type Value = Globals;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Globals, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Symbols<'_> {
    type Value = Globals;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Globals, A::Error> {
        let mut globals = Globals::new();
        while let Some(Name(name)) = access.next_key::<Name<'de>>()? {
            if !self.0.contains(&*name) {
                access.next_value::<IgnoredAny>()?;
            } else if globals.contains_key(&*name) {
                return Err(A::Error::custom(twice(&name)));
            } else {
                let Symbol { address } = access.next_value()?;
                globals.insert(name.into_owned(), address);
            }
        }
        Ok(globals)
    }
}

/// Parses one value of the document, with error positions relative to the whole document.
pub(super) fn parse_value<'a, T: Deserialize<'a>>(text: &str, value: &'a str) -> Result<T, Error> {
    serde_json::from_str(value).map_err(|error| fault(text, value, &error))
}

/// An error about a whole value of the document.
pub(super) fn invalid(text: &str, value: &str, reason: String) -> Error {
    let (line, column) = place(text, value);
    Error::Isf(Fault { line, column, reason })
}

/// Converts an error of `serde_json` in `part`, a slice of `text`.
fn fault(text: &str, part: &str, error: &serde_json::Error) -> Error {
    let (line, column) = place(text, part);
    let column = if error.line() == 1 { column - 1 + error.column() } else { error.column() };
    let message = error.to_string();
    // The message ends with the position within the part, which is meaningless for the whole text.
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason).to_owned();
    let fault = Fault { line: line - 1 + error.line().max(1), column: column.max(1), reason };
    if error.classify() == Category::Data { Error::Isf(fault) } else { Error::Json(fault) }
}

/// The line and column, from 1, at which a slice of `text` begins.
fn place(text: &str, part: &str) -> (usize, usize) {
    let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    let before = text.as_bytes().get(..start).unwrap_or_default();
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let newlines = before.iter().filter(|&&byte| byte == b'\n').count();
    (newlines + 1, before.len() - line_start + 1)
}

impl Document<'_> {
    /// The producer, symbol file and architecture, as far as the table states them; the machine type if unsupported.
    pub fn identity(&self) -> (String, Option<Pdb>, Option<Arch>, Option<Machine>) {
        let producer = self.metadata.producer.as_ref().and_then(|producer| producer.name.clone());
        let pdb = self.metadata.windows.as_ref().and_then(|windows| windows.pdb.as_ref());
        let pointer_size = self.base_types.get("pointer").map(|pointer| pointer.size);
        let machine = pdb.and_then(|pdb| pdb.machine_type);
        let arch = Arch::stated(machine, pointer_size);
        let foreign = machine.map(Machine).filter(|_| arch.is_none());
        let pdb =
            pdb.filter(|pdb| !pdb.guid.is_nil()).map(|pdb| Pdb { name: pdb.database.clone(), guid: pdb.guid, age: pdb.age });
        (producer.unwrap_or_else(|| "unknown".to_owned()), pdb, arch, foreign)
    }
}

/// Required sections of a document.
#[derive(serde::Deserialize)]
struct Sections<'a> {
    metadata: Metadata,
    #[serde(borrow)]
    base_types: &'a RawValue,
    #[serde(borrow, deserialize_with = "unique")]
    user_types: Unread<'a>,
    #[serde(borrow, deserialize_with = "unique")]
    enums: Unread<'a>,
    #[serde(borrow)]
    symbols: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
struct Symbol {
    address: u64,
}

#[derive(serde::Deserialize)]
struct Metadata {
    producer: Option<Producer>,
    windows: Option<Windows>,
}

#[derive(serde::Deserialize)]
struct Producer {
    name: Option<String>,
}

#[derive(serde::Deserialize)]
struct Windows {
    pdb: Option<RawPdb>,
}

#[derive(serde::Deserialize)]
struct RawPdb {
    database: String,
    #[serde(rename = "GUID", deserialize_with = "guid")]
    guid: Uuid,
    age: u32,
    machine_type: Option<u32>,
}

fn guid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
    let digits = String::deserialize(deserializer)?;
    identity::guid(&digits).ok_or_else(|| D::Error::custom("the GUID is not 32 hexadecimal digits"))
}

/// An entry of `base_types`.
#[derive(serde::Deserialize)]
pub(super) struct BaseType {
    pub size: u64,
    pub signed: bool,
    pub kind: BaseKind,
}

#[derive(Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BaseKind {
    Void,
    Int,
    Char,
    Bool,
    Float,
}

/// An entry of `user_types`.
#[derive(serde::Deserialize)]
pub(super) struct UserType<'a> {
    pub kind: UserKind,
    pub size: u64,
    #[serde(borrow, deserialize_with = "unique")]
    pub fields: BTreeMap<Name<'a>, Field<'a>>,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UserKind {
    Struct,
    Class,
    Union,
}

#[derive(serde::Deserialize)]
pub(super) struct Field<'a> {
    pub offset: u64,
    #[serde(borrow, rename = "type")]
    pub ty: TypeReference<'a>,
    #[serde(default)]
    pub anonymous: bool,
}

/// An entry of `enums`.
#[derive(serde::Deserialize)]
pub(super) struct EnumType<'a> {
    pub size: u64,
    #[serde(borrow)]
    pub base: Name<'a>,
    #[serde(borrow, deserialize_with = "unique")]
    pub constants: BTreeMap<Name<'a>, i64>,
}

/// The type of a field.
pub(super) enum TypeReference<'a> {
    Base {
        name: Cow<'a, str>,
    },
    Pointer {
        subtype: Box<TypeReference<'a>>,
    },
    Array {
        /// Negative in tables converted from Volatility 2 profiles: minus the size of the array in bytes, if its elements are
        /// enumerations.
        count: i64,
        subtype: Box<TypeReference<'a>>,
    },
    Bitfield {
        bit_position: u32,
        bit_length: u32,
        unit: Box<TypeReference<'a>>,
    },
    Struct {
        name: Cow<'a, str>,
    },
    Enum {
        name: Cow<'a, str>,
    },
    Function,
}

/// The type of a field, with the keys of all kinds. Serde's internally tagged enumerations would buffer all values first, which
/// doubles the time.
#[derive(serde::Deserialize)]
struct RawReference<'a> {
    kind: ReferenceKind,
    #[serde(borrow)]
    name: Option<Name<'a>>,
    #[serde(borrow)]
    subtype: Option<Box<TypeReference<'a>>>,
    count: Option<i64>,
    bit_position: Option<u32>,
    bit_length: Option<u32>,
    #[serde(borrow, rename = "type")]
    unit: Option<Box<TypeReference<'a>>>,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReferenceKind {
    Base,
    Pointer,
    Array,
    Bitfield,
    #[serde(alias = "class", alias = "union")]
    Struct,
    Enum,
    Function,
}

impl<'de: 'a, 'a> Deserialize<'de> for TypeReference<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawReference::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl<'a> TryFrom<RawReference<'a>> for TypeReference<'a> {
    type Error = String;

    fn try_from(raw: RawReference<'a>) -> Result<Self, String> {
        let RawReference { kind, name, subtype, count, bit_position, bit_length, unit } = raw;
        let missing = |key| move || format!("missing field `{key}`");
        Ok(match kind {
            ReferenceKind::Base => TypeReference::Base { name: name.ok_or_else(missing("name"))?.0 },
            ReferenceKind::Struct => TypeReference::Struct { name: name.ok_or_else(missing("name"))?.0 },
            ReferenceKind::Enum => TypeReference::Enum { name: name.ok_or_else(missing("name"))?.0 },
            ReferenceKind::Pointer => TypeReference::Pointer { subtype: subtype.ok_or_else(missing("subtype"))? },
            ReferenceKind::Array => TypeReference::Array {
                count: count.ok_or_else(missing("count"))?,
                subtype: subtype.ok_or_else(missing("subtype"))?,
            },
            ReferenceKind::Bitfield => TypeReference::Bitfield {
                bit_position: bit_position.ok_or_else(missing("bit_position"))?,
                bit_length: bit_length.ok_or_else(missing("bit_length"))?,
                unit: unit.ok_or_else(missing("type"))?,
            },
            ReferenceKind::Function => TypeReference::Function,
        })
    }
}
