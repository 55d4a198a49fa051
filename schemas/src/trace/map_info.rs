//! Reads names of values from an EVENT_MAP_INFO.

use super::event_info::guid;
use super::info_bytes::{Info, InfoError};
use crate::model::{Map, MapEntry, Provider};
use etw_layouts::constants::{MAP_FLAGS, MAP_VALUETYPE};
use etw_layouts::win10_2004::x64::{EVENT_MAP_ENTRY, EVENT_MAP_INFO, GUID};
use etw_layouts_payload::{MapKind, Uuid};
use std::mem::offset_of;

/// Reads the payload of MetaData/EventMapInfo in merged traces: the GUID of a provider, and an EVENT_MAP_INFO. The result has one map and
/// no name.
///
/// # Errors
///
/// The bytes are truncated, or the map does not give names to values.
pub fn read_payload(bytes: &[u8]) -> Result<Provider, InfoError> {
    let provider = guid(Info::new(bytes).prefix(size_of::<GUID>())?);
    read(provider, bytes.get(size_of::<GUID>()..).unwrap_or_default())
}

/// Reads an EVENT_MAP_INFO, the result of TdhGetEventMapInformation on Windows.
///
/// # Errors
///
/// The bytes are truncated, or the map does not give names to values.
pub fn read(provider: Uuid, bytes: &[u8]) -> Result<Provider, InfoError> {
    const ENTRIES: usize = offset_of!(EVENT_MAP_INFO, MapEntryArray);
    let mut info = Info::new(bytes);
    let head: EVENT_MAP_INFO = info.prefix(ENTRIES)?;
    let Meaning { kind, is_numbered } = meaning(head.Flag)?;
    let entries: Vec<EVENT_MAP_ENTRY> = info.array(ENTRIES, head.EntryCount)?;
    let name = info.text("NameOffset", head.NameOffset)?;
    let is_text = head.MapEntryValueType() == MAP_VALUETYPE::EVENTMAP_ENTRY_VALUETYPE_STRING;
    let entry = |(index, entry): (usize, &EVENT_MAP_ENTRY)| {
        let value = match (is_numbered, kind) {
            (true, MapKind::Flags) => 1_u64.checked_shl(index as u32).unwrap_or(0),
            (true, _) => index as u64,
            (false, _) if is_text => number(info.text("InputOffset", entry.InputOffset())?)?,
            (false, _) => entry.Value().into(),
        };
        Ok(MapEntry { value, name: info.text("OutputOffset", entry.OutputOffset)? })
    };
    let entries = entries.iter().enumerate().map(entry).collect::<Result<_, InfoError>>()?;
    Ok(Provider { guid: provider, maps: vec![Map { name, kind, entries }], ..Provider::default() })
}

/// The meaning of the entries of a map.
struct Meaning {
    kind: MapKind,
    /// Whether the entries have no values: the index of an entry is its value, or the number of its bit.
    is_numbered: bool,
}

fn meaning(flags: MAP_FLAGS) -> Result<Meaning, InfoError> {
    let kind = match MAP_FLAGS(flags.0 & !(MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_NO_MAP.0)) {
        MAP_FLAGS::EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP | MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_VALUEMAP => MapKind::Enumeration,
        MAP_FLAGS::EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP => return Err(InfoError::Pattern),
        MAP_FLAGS::EVENTMAP_INFO_FLAG_MANIFEST_BITMAP | MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_BITMAP => MapKind::Flags,
        flags if flags == MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_VALUEMAP | MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_FLAG => MapKind::Flags,
        flags if flags == MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_BITMAP | MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_FLAG => MapKind::Flags,
        _ => return Err(InfoError::MapFlags(flags.0)),
    };
    Ok(Meaning { kind, is_numbered: flags.contains(MAP_FLAGS::EVENTMAP_INFO_FLAG_WBEM_NO_MAP) })
}

/// The number in the text of a ValueMap qualifier: `3`, `-1`, `0x04`. Negative numbers have 32 bits.
fn number(text: String) -> Result<u64, InfoError> {
    let number = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok().or_else(|| Some(u64::from(text.parse::<i32>().ok()? as u32))),
    };
    number.ok_or(InfoError::MapText(text))
}
