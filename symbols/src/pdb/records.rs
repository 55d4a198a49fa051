//! The type records of a program database, by index and by name.

use super::container::File;
use super::sound::{self, FIRST_INDEX, Survey};
use super::{Error, leaf};
use crate::identity::{INFORMATION, Stated};
use crate::names::plain;
use pdb2::{FallibleIterator, RawString, StreamIndex, TypeData, TypeFinder, TypeIndex, TypeInformation};
use std::collections::HashMap;

const TYPES: StreamIndex = StreamIndex(2);

/// A validated type stream.
pub(super) struct Stream<'s> {
    information: TypeInformation<'s>,
    survey: Survey,
}

/// `IMAGE_FILE_MACHINE_…` of .NET assemblies.
const MANAGED: u16 = 0xC0EE;

/// The type stream of a file; if it has no types, an error with the reason.
pub(super) fn stream<'s>(file: &mut File<'s>, stated: &Stated) -> Result<Stream<'s>, Error> {
    let survey = match file.raw_stream(TYPES) {
        Ok(Some(stream)) => sound::survey(&stream)?,
        Ok(None) | Err(pdb2::Error::StreamNotFound(_)) => Survey::default(),
        Err(error) => return Err(error.into()),
    };
    if survey.count == 0 {
        return Err(match () {
            () if is_fast_link(file) => Error::FastLink,
            () if stated.machine == Some(MANAGED) => Error::Managed,
            () => Error::NoTypes,
        });
    }
    Ok(Stream { information: file.type_information()?, survey })
}

/// Whether the types are in the object files.
fn is_fast_link(file: &mut File<'_>) -> bool {
    let Ok(information) = file.pdb_information() else { return false };
    let Ok(Some(stream)) = file.raw_stream(StreamIndex(INFORMATION)) else { return false };
    // Feature codes come last, after names and small numbers.
    let names_end = information.names_offset.saturating_add(information.names_size);
    stream.get(names_end..).is_some_and(|rest| rest.windows(4).any(|code| code == b"MINI"))
}

pub(super) struct Records<'s> {
    finder: TypeFinder<'s>,
    survey: &'s Survey,
    /// Definitions of classes, structures, unions and enumerations, without forward declarations.
    by_name: HashMap<RawString<'s>, Vec<TypeIndex>>,
    by_unique_name: HashMap<RawString<'s>, TypeIndex>,
}

impl<'s> Records<'s> {
    pub fn new(stream: &'s Stream<'_>) -> Result<Records<'s>, Error> {
        let Stream { information, survey } = stream;
        let (mut by_name, mut by_unique_name) = (HashMap::new(), HashMap::new());
        let mut finder = information.finder();
        let mut records = information.iter();
        for index in FIRST_INDEX..FIRST_INDEX + survey.count {
            finder.update(&records);
            let Some(record) = records.next()? else { break };
            if is_definition(record.raw_kind())
                && !survey.malformed.contains(&index)
                && let Some((name, unique_name)) = names(&record.parse()?)
            {
                by_name.entry(name).or_insert_with(Vec::new).push(TypeIndex(index));
                if let Some(unique_name) = unique_name {
                    by_unique_name.entry(unique_name).or_insert(TypeIndex(index));
                }
            }
        }
        Ok(Records { finder, survey, by_name, by_unique_name })
    }

    /// Names of all named types, unchanged.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.by_name.keys().map(|name| name.to_string().into_owned())
    }

    /// Definitions with a name whose underscore was removed.
    pub fn defined(&self, name: &str) -> Vec<TypeIndex> {
        let keys = [format!("_{name}"), name.to_owned()];
        let keys = keys.iter().filter(|key| plain(key) == Some(name));
        keys.filter_map(|key| self.by_name.get(&RawString::from(key.as_bytes()))).flatten().copied().collect()
    }

    /// The definition for a forward declaration at an index, or the index itself for a definition; `None` if the file has no
    /// definition.
    pub fn resolve(&self, index: TypeIndex, data: &TypeData<'s>) -> Option<TypeIndex> {
        let (properties, name, unique_name) = properties(data)?;
        if !properties.forward_reference() {
            return Some(index);
        }
        match unique_name {
            Some(unique_name) => self.by_unique_name.get(&unique_name).copied(),
            // A name shared by several unnamed types identifies none of them.
            None => self.by_name.get(&name).filter(|_| plain(&name.to_string()).is_some())?.first().copied(),
        }
    }

    /// A parsed record and the number of bytes read; `None` if the model does not represent this kind of record.
    pub fn parse(&self, index: TypeIndex) -> Result<(Option<TypeData<'s>>, usize), Error> {
        if index.0 < FIRST_INDEX {
            return Ok((self.finder.find(index)?.parse().ok(), 0));
        }
        let malformed = || Error::damaged(format!("type {:#x} is malformed", index.0));
        if index.0 - FIRST_INDEX >= self.survey.count || self.survey.malformed.contains(&index.0) {
            return Err(malformed());
        }
        let record = self.finder.find(index)?;
        if !is_known(record.raw_kind()) {
            return Ok((None, 0));
        }
        let data = record.parse().map_err(|_| malformed())?;
        Ok((Some(data), record.len()))
    }

    pub fn pointer_size(&self) -> Option<u64> {
        self.survey.pointer_size
    }

    /// Size of all records, in bytes.
    pub fn bytes(&self) -> usize {
        self.survey.bytes
    }
}

/// Name and unique name of a defined type.
fn names<'s>(data: &TypeData<'s>) -> Option<(RawString<'s>, Option<RawString<'s>>)> {
    let (properties, name, unique_name) = properties(data)?;
    (!properties.forward_reference()).then_some((name, unique_name))
}

fn properties<'s>(data: &TypeData<'s>) -> Option<(pdb2::TypeProperties, RawString<'s>, Option<RawString<'s>>)> {
    match data {
        TypeData::Class(class) => Some((class.properties, class.name, class.unique_name)),
        TypeData::Union(union) => Some((union.properties, union.name, union.unique_name)),
        TypeData::Enumeration(enumeration) => Some((enumeration.properties, enumeration.name, enumeration.unique_name)),
        _ => None,
    }
}

fn is_definition(kind: u16) -> bool {
    matches!(
        kind,
        leaf::CLASS
            | leaf::STRUCTURE
            | leaf::INTERFACE
            | leaf::CLASS_2
            | leaf::STRUCTURE_2
            | leaf::INTERFACE_2
            | leaf::UNION
            | leaf::UNION_2
            | leaf::ENUM
    )
}

fn is_known(kind: u16) -> bool {
    is_definition(kind)
        || matches!(
            kind,
            leaf::MODIFIER
                | leaf::POINTER
                | leaf::ARRAY
                | leaf::PROCEDURE
                | leaf::MEMBER_FUNCTION
                | leaf::BIT_FIELD
                | leaf::FIELD_LIST
        )
}
