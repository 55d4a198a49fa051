//! Schemas in a trace, written byte by byte as tdh.h declares them.

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, EVENT_HEADER, EVENT_TRACE_HEADER, wire_guid, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{LogFile, Uuid};
use std::io::Cursor;

/// The class of the events with schemas.
pub const META_DATA: Uuid = Uuid::from_u128(0xbbccf6c1_6cd1_48c4_80ff_839482e37671);
/// Provider of the events in [`schema_events`].
pub const MADE: Uuid = Uuid::from_u128(0x11111111_2222_3333_4444_555555555555);
/// Class of the classic event in [`schema_events`].
pub const CLASS: Uuid = Uuid::from_u128(0xcccccccc_2222_3333_4444_555555555555);

/// An event with a schema.
#[derive(Clone, Debug)]
pub struct SchemaEvent {
    /// 32 for EventInfo, 33 for EventMapInfo, 0 for a chunk of a manifest.
    pub opcode: u8,
    pub payload: Vec<u8>,
}

/// The first members of a TRACE_EVENT_INFO.
#[derive(Clone, Debug, Default)]
pub struct Head {
    pub provider: Uuid,
    pub event: Uuid,
    pub id: u16,
    /// Version, channel, level, opcode.
    pub bytes: [u8; 4],
    pub task: u16,
    pub keyword: u64,
    pub source: u32,
    /// Texts in the order of their offsets, from ProviderNameOffset to ProviderMessageOffset; keywords are separated by `|`.
    pub texts: [&'static str; 8],
    pub event_name: &'static str,
}

/// An EVENT_PROPERTY_INFO.
#[derive(Clone, Copy, Debug, Default)]
pub struct Property {
    pub flags: u32,
    pub name: &'static str,
    /// In type and out type; or for a structure, its first member and the number of members.
    pub types: [u16; 2],
    pub map: &'static str,
    pub count: u16,
    pub length: u16,
    pub tags: u32,
}

/// A TRACE_EVENT_INFO.
pub fn event_info(head: &Head, top: u32, properties: &[Property]) -> Vec<u8> {
    let mut texts = Texts { start: 0x70 + 24 * properties.len(), bytes: Vec::new() };
    let mut out = [head.provider.to_bytes_le(), head.event.to_bytes_le()].concat();
    out.extend(head.id.to_le_bytes());
    out.extend(head.bytes);
    out.extend(head.task.to_le_bytes());
    out.extend(head.keyword.to_le_bytes());
    out.extend(head.source.to_le_bytes());
    for text in head.texts {
        out.extend(texts.add(text).to_le_bytes());
    }
    let flags = 1;
    for word in [0, 0, texts.add(head.event_name), 0, properties.len() as u32, top, flags] {
        out.extend(word.to_le_bytes());
    }
    for property in properties {
        out.extend(property.flags.to_le_bytes());
        out.extend(texts.add(property.name).to_le_bytes());
        out.extend(property.types.map(u16::to_le_bytes).concat());
        out.extend(texts.add(property.map).to_le_bytes());
        out.extend([property.count, property.length].map(u16::to_le_bytes).concat());
        out.extend(property.tags.to_le_bytes());
    }
    [out, texts.bytes].concat()
}

/// The payload of an EventMapInfo. An entry has a name, and a value or a text instead of a value.
pub fn map_info(provider: Uuid, name: &str, flags: u32, entries: &[(Result<u32, &str>, &str)]) -> Vec<u8> {
    let mut texts = Texts { start: 0x10 + 8 * (entries.len() + 1), bytes: Vec::new() };
    let is_text = entries.iter().any(|(value, _)| value.is_err());
    let mut out = Vec::new();
    for word in [texts.add(name), flags, entries.len() as u32, is_text.into()] {
        out.extend(word.to_le_bytes());
    }
    for (value, name) in entries {
        out.extend(texts.add(name).to_le_bytes());
        out.extend(value.unwrap_or_else(|text| texts.add(text)).to_le_bytes());
    }
    out.extend([0; 8]);
    [provider.to_bytes_le().to_vec(), out, texts.bytes].concat()
}

/// A manifest in chunks of this size in bytes.
pub fn chunks(xml: &[u8], size: usize) -> Vec<Vec<u8>> {
    let total = xml.len().div_ceil(size) as u16;
    let chunk = |(number, part): (usize, &[u8])| {
        let mut payload = vec![1, 1, 0, 0x5B];
        payload.extend([total, number as u16].map(u16::to_le_bytes).concat());
        [payload, part.to_vec()].concat()
    };
    xml.chunks(size).enumerate().map(chunk).collect()
}

/// The texts after the structures.
struct Texts {
    start: usize,
    bytes: Vec<u8>,
}

impl Texts {
    fn add(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let at = self.start + self.bytes.len();
        let mut add = |text: &str| self.bytes.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        match text.split_once('|') {
            None => add(text),
            Some(_) => text.split('|').chain([""]).for_each(add),
        }
        at as u32
    }
}

/// An event with every kind of property; one without properties; a classic event; maps of all kinds; and a manifest. The last
/// chunk of the manifest comes first.
pub fn schema_events(manifest: &[u8]) -> Vec<SchemaEvent> {
    let names =
        ["Made-Provider", "win:Informational", "Made/Analytic", "WORDS|NUMBERS|", "Task", "win:Start", "%1 of %2 ", "Display "];
    let head = Head {
        provider: MADE,
        id: 7,
        bytes: [2, 16, 4, 1],
        task: 9,
        keyword: 0x8000_0000_0000_0104,
        texts: names,
        event_name: "Everything",
        ..Head::default()
    };
    let property = |name, types| Property { name, types, count: 1, ..Property::default() };
    let everything = [
        property("Text", [1, 1]),
        Property { length: 12, ..property("TextOf12", [1, 1]) },
        Property { length: 4, ..property("Address", [16, 19]) },
        Property { length: 4, ..property("Size", [8, 8]) },
        Property { flags: 2, length: 3, ..property("Data", [14, 15]) },
        Property { flags: 4, count: 3, ..property("Numbers", [10, 18]) },
        Property { flags: 0x20, ..property("ArrayOfOne", [6, 6]) },
        Property { count: 5, ..property("ArrayOfFive", [6, 6]) },
        Property { map: "Colours", ..property("Colour", [4, 4]) },
        Property { flags: 0x40, map: "Colours", tags: 0xABC_DEF1, ..property("Tagged", [4, 4]) },
        Property { map: "Absent", ..property("Flags", [8, 18]) },
        Property { flags: 0x80, map: "\u{2}\u{4}schema", ..property("Custom", [14, 0]) },
        Property { flags: 5, count: 3, ..property("Parts", [14, 3]) },
        property("Last", [25, 15]),
        property("Key", [15, 14]),
        Property { flags: 1, ..property("Inner", [17, 2]) },
        Property { flags: 2, length: 3, ..property("Name", [1, 1]) },
        property("Count", [6, 6]),
        Property { flags: 4, count: 17, ..property("Items", [7, 7]) },
    ];
    let empty = Head { id: 8, texts: ["Made-Provider", "", "", "", "", "", "", ""], event_name: "", ..head.clone() };
    let classic = Head {
        event: CLASS,
        source: 1,
        id: 0,
        bytes: [3, 0, 0, 10],
        keyword: 0,
        texts: ["Classic provider", "", "", "", "Class", "Open", "", ""],
        event_name: "ActivityProperty",
        ..head.clone()
    };
    let of_class = [Property { map: "Modes", ..property("Mode", [8, 0]) }, property("User", [310, 0])];
    let info = |payload| SchemaEvent { opcode: 32, payload };
    let map =
        |provider, name, flags, entries: &[_]| SchemaEvent { opcode: 33, payload: map_info(provider, name, flags, entries) };
    let mut events = vec![
        info(event_info(&head, 14, &everything)),
        map(MADE, "Colours", 1, &[(Ok(0), "red "), (Ok(1), "green "), (Ok(7), "blue ")]),
        map(MADE, "Bits", 2, &[(Ok(1), "FIRST "), (Ok(0x8000_0000), "LAST ")]),
        info(event_info(&empty, 0, &[])),
        info(event_info(&classic, 2, &of_class)),
        map(CLASS, "Modes", 0x48, &[(Ok(0), "off"), (Ok(0), "on")]),
        map(CLASS, "ByText", 8, &[(Err("3"), "three"), (Err("-1"), "minus one"), (Err("0x1F"), "31")]),
        map(CLASS, "FlagsByText", 0x28, &[(Err("0x01"), "one"), (Err("0x02"), "two")]),
        map(CLASS, "NamedBits", 0x50, &[(Ok(0), "bit 0"), (Ok(0), "bit 1"), (Ok(0), "bit 2")]),
    ];
    let chunks = chunks(manifest, manifest.len().div_ceil(3).max(1));
    events.extend(chunks.into_iter().rev().map(|payload| SchemaEvent { opcode: 0, payload }));
    events
}

/// A trace with these events.
pub fn schema_trace(events: &[SchemaEvent]) -> Vec<u8> {
    let producer = Producer::new(10, 0, 19041, Arch::X64);
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, LogFile::new(&producer)).unwrap();
    for event in events {
        let header = if event.opcode == 0 {
            let mut header: EVENT_HEADER = zero();
            header.ProviderId = wire_guid(MADE);
            (header.EventDescriptor.Id, header.ProcessId, header.ThreadId) = (0xFFFE, 4, 8);
            EventHeader::Event(header)
        } else {
            let mut header: EVENT_TRACE_HEADER = zero();
            header.set_Guid(wire_guid(META_DATA));
            let mut class = header.Class();
            class.Type = event.opcode;
            header.set_Class(class);
            EventHeader::Full(header)
        };
        writer.push(0, &Record::new(header, true, &event.payload)).unwrap();
    }
    writer.finish(0).unwrap().into_inner()
}
