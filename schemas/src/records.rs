//! Strings and lists of fields of a library under construction.

use crate::interned::{Lists, index};
use crate::model::{Count, DEPTH, Field, FieldReference, Length};
use etw_layouts_payload::InType;
use etw_layouts_payload::packed::format::{COUNT_CONSTANT, COUNT_FIELD, IS_SIZE, LENGTH_CONSTANT, LENGTH_FIELD};
use std::collections::HashMap;

/// Strings, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    /// The encoded strings. The first byte is unused, so that offset 0 means the empty string.
    pub bytes: Vec<u8>,
    offsets: HashMap<String, u32>,
}

/// Lists of fields, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub lists: Lists<FieldRecord>,
}

/// A field. Its map is an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FieldRecord {
    pub name: u32,
    pub map: Option<u32>,
    pub tags: u32,
    pub in_type: u16,
    pub out_type: u16,
    pub count: u16,
    pub length: u16,
    pub members: u16,
    pub flags: u8,
}

/// Maximum length of a string, in bytes: the greatest that four bytes can encode. Longer strings are truncated.
const LONGEST: usize = (1 << 28) - 1;

impl Strings {
    /// The relative offset of a string; 0 for the empty string.
    pub fn add(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(offset) = self.offsets.get(text) {
            return *offset;
        }
        if self.bytes.is_empty() {
            self.bytes.push(0);
        }
        let offset = index(self.bytes.len());
        let kept = &text[..text.floor_char_boundary(LONGEST)];
        let mut length = kept.len();
        while length >= 0x80 {
            self.bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.bytes.push(length as u8);
        self.bytes.extend(kept.as_bytes());
        self.offsets.insert(text.to_owned(), offset);
        offset
    }
}

impl Fields {
    /// The index of the first field of a list, and the number of its fields, including members of structures. A new list is added. `None` if
    /// there are more fields than a library can have, or structures nest too deeply.
    pub fn add(&mut self, fields: &[Field], maps: &[u32], strings: &mut Strings) -> Option<(u32, u16)> {
        let (mut records, mut scopes) = (Vec::new(), Vec::new());
        flatten(fields, maps, strings, &mut records, &mut scopes)?;
        let (first, count) = self.lists.add(records);
        Some((first, count.try_into().ok()?))
    }
}

/// Removes the positions of references that names determine, so that the fields of different sources are equal.
pub(crate) fn forget_positions(fields: &mut [Field]) {
    fn forget(fields: &mut [Field], scopes: &mut Vec<HashMap<String, u16>>, count: &mut u16) {
        scopes.push(HashMap::new());
        for field in fields {
            let counted = if let Count::Field(to) = &mut field.count { Some(to) } else { None };
            let measured = if let Length::Field(to) = &mut field.length { Some(to) } else { None };
            for to in [counted, measured].into_iter().flatten() {
                let by_name = scopes.iter().rev().find_map(|scope| scope.get(&to.name).copied());
                to.position = to.position.filter(|position| by_name != Some(*position));
            }
            let position = *count;
            *count = count.saturating_add(1);
            forget(&mut field.members, scopes, count);
            if let Some(scope) = scopes.last_mut() {
                scope.insert(field.name.clone(), position);
            }
        }
        scopes.pop();
    }
    forget(fields, &mut Vec::new(), &mut 0);
}

/// Appends fields, each followed by its members. A scope contains the fields of a list with their indices. The last scope is the innermost.
fn flatten<'a>(
    fields: &'a [Field],
    maps: &[u32],
    strings: &mut Strings,
    records: &mut Vec<FieldRecord>,
    scopes: &mut Vec<HashMap<&'a str, u16>>,
) -> Option<()> {
    if scopes.len() >= DEPTH {
        return None;
    }
    scopes.push(HashMap::new());
    for field in fields {
        let size = |to: &FieldReference, records: &mut Vec<FieldRecord>| {
            let by_name = || scopes.iter().rev().find_map(|scope| scope.get(to.name.as_str()).copied());
            let place = to.position.or_else(by_name);
            if let Some(record) = place.and_then(|place| records.get_mut(usize::from(place))) {
                record.flags |= IS_SIZE;
            }
            // Decoding reports a reference to a missing field.
            place.unwrap_or(u16::MAX)
        };
        let (count, count_flag) = match &field.count {
            Count::One => (0, 0),
            Count::Constant(count) => (*count, COUNT_CONSTANT),
            Count::Field(name) => (size(name, records), COUNT_FIELD),
        };
        let (length, length_flag) = match &field.length {
            Length::Type => (0, 0),
            Length::Constant(length) => (*length, LENGTH_CONSTANT),
            Length::Field(name) => (size(name, records), LENGTH_FIELD),
        };
        let place = u16::try_from(records.len()).ok().filter(|place| *place < u16::MAX)?;
        let is_structure = field.in_type == InType::STRUCT;
        records.push(FieldRecord {
            name: strings.add(&field.name),
            map: field.map.and_then(|map| maps.get(map).copied()),
            tags: field.tags,
            in_type: field.in_type.0,
            out_type: field.out_type.0,
            count,
            length,
            members: if is_structure { field.members.len().try_into().ok()? } else { 0 },
            flags: count_flag | length_flag,
        });
        if is_structure {
            flatten(&field.members, maps, strings, records, scopes)?;
        }
        scopes.last_mut()?.insert(&field.name, place);
    }
    scopes.pop();
    Some(())
}
