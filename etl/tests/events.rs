//! The properties of events: a type to compare them in tests, and golden files.

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{EVENT_DESCRIPTOR, EVENT_HEADER, EVENT_HEADER_EXT_TYPE, EVENT_TRACE_HEADER, wire_guid, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{ClockType, Event, FileTime, HeaderType, Item, LogFile, Reader, Scratch, Trace, Uuid, names};
use std::collections::BTreeSet;
use std::io::Cursor;
use test_support::traces::{PRODUCERS, fixture};

/// The properties of an event that tests compare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub processor: u16,
    pub time: Option<i64>,
    pub header_type: HeaderType,
    pub items: Vec<(u16, Vec<u8>)>,
    pub payload: Vec<u8>,
    pub bytes: Vec<u8>,
}

impl Seen {
    pub fn of(event: &Event<'_>, processor: u16) -> Self {
        Self {
            processor,
            time: event.time_stamp(),
            header_type: event.header_type(),
            items: event.items().map(|item| (item.ty.0, item.data.to_vec())).collect(),
            payload: event.payload().to_vec(),
            bytes: event.bytes().to_vec(),
        }
    }
}

/// All events in file order. They must be the same from a stream. Diagnostics are failures.
pub fn in_file(trace: &Trace<'_>) -> Vec<Seen> {
    let mut scratch = Scratch::default();
    let (mut events, mut records) = (Vec::new(), trace.events());
    for buffer in trace.buffers() {
        let buffer = buffer.unwrap();
        for event in buffer.decode(&mut scratch).events() {
            let event = event.unwrap();
            events.push(Seen::of(&event, buffer.header().processor()));
            // The iterator returns the same events.
            let record = records.next().unwrap().unwrap();
            let time = event.time_stamp().map(|stamp| FileTime(trace.clock().system_time(stamp)));
            assert_eq!((record.bytes(), record.time()), (event.bytes(), time));
            assert_eq!((record.buffer(), record.buffer_offset()), (buffer.index(), buffer.offset()));
        }
    }
    assert!(records.next().is_none());
    let (mut reader, mut streamed) = (Reader::new(trace.bytes()).unwrap(), 0);
    while let Some(decoded) = reader.next_buffer().unwrap() {
        let decoded = decoded.unwrap();
        for event in decoded.events() {
            assert!(events.get(streamed) == Some(&Seen::of(&event.unwrap(), decoded.buffer().header().processor())));
            streamed += 1;
        }
    }
    assert_eq!(streamed, events.len());
    events
}

/// All events by processor, those of each in the order of the file. Diagnostics are failures.
pub fn by_processor(trace: &Trace<'_>) -> Vec<Seen> {
    let mut events = in_file(trace);
    events.sort_by_key(|event| event.processor);
    events
}

/// The properties of every kind of event, in three versions of Windows. `BLESS=1` updates the file.
#[test]
fn golden() {
    let mut text = String::new();
    let mut print = |name: &str, bytes: &[u8]| {
        text += &format!("{name}\n");
        for buffer in Trace::from_bytes(bytes).unwrap().buffers() {
            let mut scratch = Scratch::default();
            for event in buffer.unwrap().decode(&mut scratch).events() {
                text += &line(&event.unwrap());
            }
        }
    };
    for (producer, rounds) in [(1, 1), (4, 1), (7, 2)] {
        let fixture = fixture(PRODUCERS[producer], ClockType::PerfCounter, false, rounds).unwrap();
        print(&fixture.name, &fixture.bytes);
    }
    // All members of the headers have different values.
    let mut header: EVENT_HEADER = zero();
    header.EventDescriptor = EVENT_DESCRIPTOR { Id: 1, Version: 2, Channel: 3, Level: 4, Opcode: 5, Task: 6, Keyword: 7 };
    (header.ActivityId, header.ProviderId) = (wire_guid(Uuid::from_u128(8)), wire_guid(Uuid::from_u128(9)));
    let mut full: EVENT_TRACE_HEADER = zero();
    full.set_Class({
        let mut class = full.Class();
        (class.Type, class.Level, class.Version) = (0x0A, 11, 12);
        class
    });
    let items = [1, 2].map(|ty| Item::new(EVENT_HEADER_EXT_TYPE(ty), &[13; 16])).to_vec();
    let log = LogFile::new(&PRODUCERS[7]);
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap();
    writer.push(0, &Record::new(EventHeader::Event(header), true, &[]).with_items(items)).unwrap();
    let short = Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, &[14; 8]);
    writer.push(0, &Record::new(EventHeader::Event(header), false, &[]).with_items(vec![short])).unwrap();
    // The record sets the flag EXTENDED_INFO if it has items.
    header.Flags.0 = 0x21;
    writer.push(0, &Record::new(EventHeader::Event(header), true, &[])).unwrap();
    writer.push(0, &Record::new(EventHeader::Full(full), true, &[])).unwrap();
    print("written", &writer.finish(0).unwrap().into_inner());
    for producer in PRODUCERS {
        let fixture = fixture(producer, ClockType::SystemTime, false, 1).unwrap();
        let kinds: BTreeSet<_> = fixture.events.iter().map(|event| event.1.name()).collect();
        text += &format!("{} writes {}\n", fixture.name, kinds.into_iter().collect::<Vec<_>>().join(", "));
    }
    for kind in [HeaderType::Full64, HeaderType::Event64] {
        let opcodes = (0..=255).filter_map(|value| Some(format!("{value} {}", names::opcode(kind, value)?)));
        text += &format!("opcodes of {}: {}\n", kind.name(), opcodes.collect::<Vec<_>>().join(", "));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/events.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == text,
        "the output changed; update it with BLESS=1, and review the difference\n{text}"
    );
}

fn line(event: &Event<'_>) -> String {
    let kind = event.header_type();
    let width = match kind.is_64_bit() {
        None => "",
        Some(false) => " 32-bit",
        Some(true) => " 64-bit",
    };
    let mut line = format!("{}{width}", kind.name());
    let opcode = event.opcode();
    let provider = event.provider();
    for (name, value) in [
        ("time", event.time_stamp().map(|value| value.to_string())),
        ("thread", event.thread().map(|value| value.to_string())),
        ("process", event.process().map(|value| value.to_string())),
        ("provider", provider.map(|value| value.to_string())),
        ("named", provider.and_then(names::provider).map(str::to_owned)),
        ("hook", event.hook().map(|value| format!("{value:#06x}"))),
        ("id", event.id().map(|value| value.to_string())),
        ("version", event.version().map(|value| value.to_string())),
        ("opcode", opcode.map(|value| value.to_string())),
        ("named", opcode.and_then(|value| names::opcode(kind, value)).map(str::to_owned)),
        ("level", event.level().map(|value| value.to_string())),
        ("task", event.task().map(|value| value.to_string())),
        ("channel", event.channel().map(|value| value.to_string())),
        ("keyword", event.keyword().map(|value| format!("{value:#x}"))),
        ("flags", event.flags().map(|value| format!("{:#x}", value.0))),
        ("activity", event.activity_id().map(|value| value.to_string())),
        ("related", event.related_activity_id().map(|value| value.to_string())),
        ("fault", event.fault().map(|fault| fault.to_string())),
    ] {
        if let Some(value) = value {
            line += &format!(", {name} {value}");
        }
    }
    let items: Vec<_> = event.items().map(|item| item.ty.0).collect();
    if !items.is_empty() {
        line += &format!(", items {items:?}");
    }
    line + &format!(", {} + {} bytes\n", event.header_length(), event.payload().len())
}
