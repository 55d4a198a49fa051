//! A message as an event with fields.

use super::WppMessage;
use super::argument::{WppArgument, WppType};
use crate::model::{Event, Field, Length, Map, MapEntry, Provider};
use etw_layouts_payload::{InType, MapKind, OutType};

impl WppMessage {
    /// The message as the only event of a provider: the component is its name, and the arguments are its fields. The event has no fields if the
    /// size of an argument is unknown.
    pub fn to_provider(&self) -> Provider {
        let mut maps = Vec::new();
        let fields = self.arguments.iter().map(|argument| field(argument, &mut maps)).collect();
        let event = Event { id: self.number, symbol: self.name.clone(), fields, ..Event::default() };
        Provider { guid: self.guid, name: self.component.to_string(), maps, events: vec![event], ..Provider::default() }
    }
}

fn field(argument: &WppArgument, maps: &mut Vec<Map>) -> Option<Field> {
    let (in_type, out_type) = match &argument.ty {
        WppType::Integer { size, signed } => (integer(*size, *signed)?, OutType::NULL),
        WppType::Pointer => (InType::POINTER, OutType::NULL),
        WppType::Double => (InType::DOUBLE, OutType::NULL),
        WppType::String => (InType::ANSISTRING, OutType::NULL),
        WppType::WideString => (InType::UNICODESTRING, OutType::NULL),
        WppType::CountedString => (InType::MANIFEST_COUNTEDANSISTRING, OutType::NULL),
        WppType::CountedWideString => (InType::MANIFEST_COUNTEDSTRING, OutType::NULL),
        WppType::HexDump => (InType::MANIFEST_COUNTEDBINARY, OutType::NULL),
        WppType::Guid => (InType::GUID, OutType::NULL),
        WppType::Timestamp => (InType::FILETIME, OutType::NULL),
        WppType::Duration => (InType::INT64, OutType::NULL),
        WppType::Ntstatus => (InType::UINT32, OutType::NTSTATUS),
        WppType::Status => (InType::UINT32, OutType::HEXINT32),
        WppType::Ipv4 => (InType::UINT32, OutType::IPV4),
        WppType::Ipv6 => (InType::BINARY, OutType::IPV6),
        WppType::Port => (InType::UINT16, OutType::PORT),
        WppType::Mac => (InType::BINARY, OutType::NULL),
        WppType::Sid => (InType::SID, OutType::NULL),
        WppType::List { size, .. } | WppType::Set { size, .. } => (integer(*size, false)?, OutType::NULL),
        WppType::Unknown(_) => return None,
    };
    let map = match &argument.ty {
        WppType::List { names, .. } => Some(add(maps, MapKind::Enumeration, names, |number| Some(number.into()))),
        WppType::Set { names, .. } => Some(add(maps, MapKind::Flags, names, |bit| 1u64.checked_shl(bit))),
        _ => None,
    };
    let length = if argument.ty == WppType::Mac { Length::Constant(6) } else { Length::Type };
    Some(Field { out_type, map, length, ..Field::new(&argument.name, in_type) })
}

/// Adds a map. Returns its index.
fn add(maps: &mut Vec<Map>, kind: MapKind, names: &[(u32, String)], value: impl Fn(u32) -> Option<u64>) -> usize {
    let entry = |(number, name): &(u32, String)| Some(MapEntry { value: value(*number)?, name: name.clone() });
    maps.push(Map { name: String::new(), kind, entries: names.iter().filter_map(entry).collect() });
    maps.len() - 1
}

fn integer(size: u8, is_signed: bool) -> Option<InType> {
    Some(match (size, is_signed) {
        (1, true) => InType::INT8,
        (1, false) => InType::UINT8,
        (2, true) => InType::INT16,
        (2, false) => InType::UINT16,
        (4, true) => InType::INT32,
        (4, false) => InType::UINT32,
        (8, true) => InType::INT64,
        (8, false) => InType::UINT64,
        _ => return None,
    })
}
