//! Maps: MAPS with VMAP and BMAP.

use super::bytes::Bytes;
use super::{Failure, NONE, entries};
use crate::budget::Budget;
use crate::messages::Messages;
use crate::model::{Map, MapEntry};
use crate::schemas::{SchemaError, Schemas};
use etw_layouts_payload::MapKind;
use std::collections::HashMap;

/// Indices of maps by offset; `None` for a map that is corrupt or of an unknown kind.
pub(super) type MapIndices = HashMap<usize, Option<usize>>;

/// The maps of a provider, and their indices. `at` is the offset of the list of maps, or 0.
pub(super) fn read(
    bytes: Bytes<'_>,
    at: usize,
    messages: &Messages,
    schemas: &mut Schemas,
    budget: &mut Budget,
) -> Result<(Vec<Map>, MapIndices), Failure> {
    let (mut maps, mut offsets) = (Vec::new(), MapIndices::new());
    for entry in entries(bytes, at, 4, schemas) {
        let offset = bytes.size(entry)?;
        match map(bytes, offset, messages, budget) {
            Ok(map) => {
                offsets.entry(offset).or_insert(Some(maps.len()));
                maps.push(map);
            }
            Err(Failure::Corrupt(error)) => {
                offsets.entry(offset).or_insert(None);
                schemas.report(error);
            }
            Err(Failure::Exceeded) => return Err(Failure::Exceeded),
        }
    }
    Ok((maps, offsets))
}

/// A map: signature, size, offset of the name, format, number of entries, and the entries. An entry is a value and a message identifier.
fn map(bytes: Bytes<'_>, at: usize, messages: &Messages, budget: &mut Budget) -> Result<Map, Failure> {
    let kind = match &bytes.signature(at)? {
        b"VMAP" => MapKind::Enumeration,
        b"BMAP" => MapKind::Flags,
        _ => {
            return Err(SchemaError::offset(
                at,
                "unsupported map: its signature is neither VMAP nor BMAP; values of fields with this map have no names",
            )
            .into());
        }
    };
    let first = at + 20;
    let mut entries = Vec::new();
    let name = bytes.string(bytes.size(at + 8)?)?;
    budget.take(size_of::<Map>() + name.len())?;
    for entry in (0..bytes.count(at + 16, first, 8)?).map(|index| first + 8 * index) {
        let name = match bytes.u32(entry + 4)? {
            NONE => String::new(),
            id => messages.get(id).unwrap_or_default().trim_end().to_owned(),
        };
        budget.take(size_of::<MapEntry>() + name.len())?;
        entries.push(MapEntry { value: bytes.u32(entry)?.into(), name });
    }
    Ok(Map { name, kind, entries })
}
