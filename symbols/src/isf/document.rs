//! The shape of an ISF document. Types stay unparsed text until they are wanted.

use super::error::{Error, Fault};
use crate::model::{Arch, Pdb};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The sections that matter here, of which `symbols` is none.
pub(super) struct Document<'a> {
    metadata: Metadata,
    pub base_types: BTreeMap<String, BaseType>,
    pub user_types: BTreeMap<String, &'a RawValue>,
    pub enums: BTreeMap<String, &'a RawValue>,
}

/// Splits a document into its types.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Error> {
    let sections: Sections<'_> = serde_json::from_str(text).map_err(|error| fault(text, text, &error))?;
    let missing = |section| Error::Missing { section };
    Ok(Document {
        metadata: sections.metadata.ok_or(missing("metadata"))?,
        base_types: sections.base_types.ok_or(missing("base_types"))?,
        user_types: sections.user_types.ok_or(missing("user_types"))?,
        enums: sections.enums.ok_or(missing("enums"))?,
    })
}

/// Parses one value of the document, and places errors within the whole.
pub(super) fn parse_value<'a, T: Deserialize<'a>>(text: &str, value: &'a RawValue) -> Result<T, Error> {
    serde_json::from_str(value.get()).map_err(|error| fault(text, value.get(), &error))
}

/// An error that concerns a whole value of the document.
pub(super) fn invalid(text: &str, value: &RawValue, reason: String) -> Error {
    let (line, column) = place(text, value.get());
    Error::Isf(Fault { line, column, reason })
}

/// An error of `serde_json` in `part`, which is a slice of `text`.
fn fault(text: &str, part: &str, error: &serde_json::Error) -> Error {
    let (line, column) = place(text, part);
    let column = if error.line() == 1 { column - 1 + error.column() } else { error.column() };
    let message = error.to_string();
    // The message ends in the place within the part, which means nothing outside of it.
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
    /// The producer, symbol file and architecture, as far as the table tells.
    pub fn identity(&self) -> (String, Option<Pdb>, Option<Arch>) {
        let producer = self.metadata.producer.as_ref().and_then(|producer| producer.name.clone());
        let pdb = self.metadata.windows.as_ref().and_then(|windows| windows.pdb.as_ref());
        let arch = match pdb.and_then(|pdb| pdb.machine_type) {
            Some(0x14C) => Some(Arch::X86),
            Some(0x8664) => Some(Arch::X64),
            Some(_) => None,
            None => match self.base_types.get("pointer").map(|pointer| pointer.size) {
                Some(4) => Some(Arch::X86),
                Some(8) => Some(Arch::X64),
                _ => None,
            },
        };
        let pdb = pdb.filter(|pdb| pdb.guid != 0).map(|pdb| Pdb { name: pdb.database.clone(), guid: pdb.guid, age: pdb.age });
        (producer.unwrap_or_else(|| "unknown".to_owned()), pdb, arch)
    }
}

#[derive(serde::Deserialize)]
struct Sections<'a> {
    metadata: Option<Metadata>,
    base_types: Option<BTreeMap<String, BaseType>>,
    #[serde(borrow)]
    user_types: Option<BTreeMap<String, &'a RawValue>>,
    #[serde(borrow)]
    enums: Option<BTreeMap<String, &'a RawValue>>,
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
    guid: u128,
    age: u32,
    machine_type: Option<u32>,
}

fn guid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
    let digits = String::deserialize(deserializer)?;
    crate::snapshot::guid(&digits).ok_or_else(|| D::Error::custom("the GUID is not 32 hexadecimal digits"))
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
pub(super) struct UserType {
    pub kind: UserKind,
    pub size: u64,
    pub fields: BTreeMap<String, Field>,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UserKind {
    Struct,
    Class,
    Union,
}

#[derive(serde::Deserialize)]
pub(super) struct Field {
    pub offset: u64,
    #[serde(rename = "type")]
    pub ty: TypeReference,
    #[serde(default)]
    pub anonymous: bool,
}

/// An entry of `enums`.
#[derive(serde::Deserialize)]
pub(super) struct EnumType {
    pub size: u64,
    pub base: String,
    pub constants: BTreeMap<String, i64>,
}

/// The type of a field.
#[derive(serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum TypeReference {
    Base {
        name: String,
    },
    Pointer {
        subtype: Box<TypeReference>,
    },
    Array {
        /// Negative in tables made from Volatility 2 profiles: the array's bytes, if its elements are enumerations.
        count: i64,
        subtype: Box<TypeReference>,
    },
    Bitfield {
        bit_position: u32,
        bit_length: u32,
        #[serde(rename = "type")]
        unit: Box<TypeReference>,
    },
    #[serde(alias = "class", alias = "union")]
    Struct {
        name: String,
    },
    Enum {
        name: String,
    },
    Function,
}
