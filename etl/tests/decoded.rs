//! Events of all kinds decoded with libraries of schemas: their names, their values as text and as JSON, and filters by name.

use etw_layouts::constants::HOOK_ID;
use etw_layouts_etl::header::{Counters, EventHeader, Message};
use etw_layouts_etl::payload::{Fault, FaultKind, InType, MapKind, PointerSize, Source};
use etw_layouts_etl::text::{Style, fields};
use etw_layouts_etl::wire::{
    EVENT_HEADER, EVENT_HEADER_EXT_TYPE, EVENT_TRACE_HEADER, PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, large, wire_guid, zero,
};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{DiagnosticKind, Event, Filter, Item, LogFile, Schemas, Scratch, Trace, Uuid, names};
use etw_layouts_schemas as model;
use etw_layouts_schemas::{Keyword, LibraryBuilder, Map, MapEntry, Name, Provider};
use std::io::Cursor;
use test_support::logging::logging;
use test_support::traces::{PRODUCERS, fixed_payload};

/// A provider with a name in both libraries, one without a name, and a class of WMI.
const MADE: Uuid = Uuid::from_u128(0x11111111_2222_3333_4444_555555555555);
const NAMELESS: Uuid = Uuid::from_u128(0x22222222_2222_3333_4444_555555555555);
const CLASS: Uuid = Uuid::from_u128(0xcccccccc_2222_3333_4444_555555555555);
/// The class of the kernel's events of processes.
const PROCESS: Uuid = Uuid::from_u128(0x3d6fa8d0_fe05_11d0_9dda_00c04fd7ba7c);

type Field = (model::Field, Vec<u8>);

fn field(name: &str, in_type: InType, bytes: &[u8]) -> Field {
    (model::Field::new(name, in_type), bytes.to_vec())
}

/// Values at the limits of numbers in JSON, with and without a name in a map, and names of fields that need escapes.
fn values() -> Vec<Field> {
    const EXACT: u64 = 1 << 53;
    let unsigned = |name, number: u64| field(name, InType::UINT64, &number.to_le_bytes());
    let signed = |name, number: i64| field(name, InType::INT64, &number.to_le_bytes());
    let mapped = |(field, bytes): Field| (model::Field { map: Some(0), ..field }, bytes);
    let text: Vec<u8> = "a\"\\Ω\u{7}\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        field("float", InType::FLOAT, &1_f32.to_le_bytes()),
        field("infinite float", InType::FLOAT, &f32::INFINITY.to_le_bytes()),
        field("double", InType::DOUBLE, &1_f64.to_le_bytes()),
        field("infinite double", InType::DOUBLE, &f64::NEG_INFINITY.to_le_bytes()),
        unsigned("u", EXACT - 1),
        unsigned("too large", EXACT),
        mapped(unsigned("named u", 1)),
        signed("i", 1 - EXACT as i64),
        signed("too small", -(EXACT as i64)),
        mapped(signed("named i", 1)),
        field("boolean", InType::BOOLEAN, &[1, 0, 0, 0]),
        mapped(field("named boolean", InType::BOOLEAN, &[1, 0, 0, 0])),
        field("hex", InType::HEXINT32, &[1, 0, 0, 0]),
        mapped(field("named hex", InType::HEXINT32, &[1, 0, 0, 0])),
        mapped(field("unnamed", InType::UINT8, &[9])),
        field("guid", InType::GUID, &MADE.to_bytes_le()),
        field("text", InType::UNICODESTRING, &text),
        field("\"", InType::UINT8, &[1]),
        field("\\", InType::UINT8, &[2]),
        field("\u{7}", InType::UINT8, &[3]),
        field("Ω", InType::UINT8, &[4]),
        field("Ω", InType::UINT8, &[5]),
        field("Ω#3", InType::UINT8, &[7]),
        field("Ω", InType::UINT8, &[8]),
        field(&"long".repeat(36), InType::UINT8, &[6]),
    ]
}

fn event(id: u16, task: &str, fields: Option<&[(&str, InType)]>) -> model::Event {
    let fields = fields.map(|fields| fields.iter().map(|(name, in_type)| model::Field::new(*name, *in_type)).collect());
    let name = |value, name: &str| Name { value: Some(value), name: name.to_owned() };
    model::Event { id, task: name(1, task), opcode: name(10, ""), keyword_mask: Some(0), fields, ..model::Event::default() }
}

/// Two libraries. The first has an event of three builds.
fn libraries() -> [model::Library; 2] {
    const NUMBER: &[(&str, InType)] = &[("number", InType::UINT8)];
    let provider = |name: &str, guid, events| Provider { guid, name: name.to_owned(), events, ..Provider::default() };
    let made = |events| provider("Maker-Ω", MADE, events);
    let (mut first, mut second) = (LibraryBuilder::default(), LibraryBuilder::default());
    let origin = first.origin(Source::Manifest, "made.man", None);
    let map = Map {
        name: "Names".to_owned(),
        kind: MapKind::Enumeration,
        entries: vec![MapEntry { value: 1, name: "one\u{7}".to_owned() }],
    };
    let keyword = |mask, name: &str| Keyword { mask, name: name.to_owned() };
    let values = model::Event {
        fields: Some(values().into_iter().map(|(field, _)| field).collect()),
        keywords: vec!["Own".to_owned()],
        ..event(1, "Values", None)
    };
    let of_first = vec![
        values,
        event(2, "", Some(NUMBER)),
        event(3, "Same size", Some(&[("first", InType::UINT32)])),
        event(4, "Other size", Some(&[("first", InType::UINT32)])),
        event(6, "In neither", None),
        event(7, "Pointer", Some(&[("pointer", InType::POINTER)])),
        event(8, "In second", None),
    ];
    let keywords = vec![keyword(Some(1), "Low"), keyword(Some(2), "Hígh"), keyword(None, "Without a mask")];
    first.add(&Provider { keywords, maps: vec![map], ..made(of_first) }, origin);
    first.add(&provider("", NAMELESS, vec![event(1, "Lone", Some(NUMBER))]), origin);
    let classic = model::Event { is_classic: true, version: 1, ..event(0, "", Some(NUMBER)) };
    first.add(&provider("Made class", CLASS, vec![classic]), origin);
    let builds: [(u32, &[(&str, InType)]); 3] = [
        (10_240, &[("of 10240", InType::UINT32)]),
        (17_763, &[("of 17763", InType::UINT16), ("more", InType::UINT16)]),
        (19_041, &[("of 19041", InType::UINT64)]),
    ];
    for (build, fields) in builds {
        let origin = first.origin(Source::Binary, "", Some(build));
        first.add(&made(vec![event(5, "Builds", Some(fields))]), origin);
    }
    let origin = second.origin(Source::Catalogue, "", None);
    let of_second = vec![
        event(3, "Same size", Some(&[("second", InType::INT32)])),
        event(4, "Other size", Some(&[("second", InType::UINT64)])),
        event(6, "In neither either", None),
        event(8, "In second", Some(NUMBER)),
    ];
    second.add(&made(of_second), origin);
    [first.build(), second.build()]
}

fn schemas() -> Schemas {
    libraries().iter().fold(Schemas::built_in(), |schemas, library| schemas.with_library(library.bytes()).expect("a library"))
}

/// The header of a kernel event, with or without a process and a thread.
pub fn kernel(hook: u16, version: u8, process: Option<u32>) -> EventHeader {
    let mut system: SYSTEM_TRACE_HEADER = zero();
    let mut packet = system.Packet();
    packet.set_HookId(HOOK_ID(hook));
    if let Some(process) = process {
        system.set_Packet(packet);
        system.set_Version(version.into());
        (system.ProcessId, system.ThreadId) = (process, 1);
        return EventHeader::System(system);
    }
    let mut header: PERFINFO_TRACE_HEADER = zero();
    header.set_Packet(packet);
    header.set_Version(etw_layouts::constants::TRACE_HEADER_VERSION_FLAG(version.into()));
    EventHeader::PerfInfo(header, Counters::default())
}

fn manifest(provider: Uuid, id: u16, keyword: u64) -> EventHeader {
    let mut header: EVENT_HEADER = zero();
    header.ProviderId = wire_guid(provider);
    (header.EventDescriptor.Id, header.EventDescriptor.Keyword, header.TimeStamp) = (id, keyword, large(1));
    EventHeader::Event(header)
}

fn classic(provider: Uuid, opcode: u8, version: u16) -> EventHeader {
    let mut header: EVENT_TRACE_HEADER = zero();
    header.set_Guid(wire_guid(provider));
    let mut class = header.Class();
    (class.Type, class.Version) = (opcode, version);
    header.set_Class(class);
    EventHeader::Full(header)
}

/// Visits each event of a trace with these records, except the log file header.
pub fn each<'a>(records: impl IntoIterator<Item = Record<'a>>, mut visit: impl FnMut(&Event<'_>, &Trace<'_>)) {
    let producer = PRODUCERS[7];
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, LogFile::new(&producer)).expect("a writer");
    records.into_iter().for_each(|record| writer.push(0, &record).expect("an event"));
    let bytes = writer.finish(0).expect("a file").into_inner();
    let (trace, mut scratch) = (Trace::from_bytes(&bytes).expect("a trace"), Scratch::default());
    for buffer in trace.buffers().skip(1) {
        buffer.expect("a buffer").decode(&mut scratch).events().for_each(|event| visit(&event.expect("an event"), &trace));
    }
}

fn records() -> Vec<(EventHeader, Vec<u8>)> {
    let message = Message { number: 7, guid: Some(MADE), ..Message::default() };
    vec![
        (kernel(0x0524, 2, None), fixed_payload(0x0524, 2)),
        (kernel(0x0524, 9, None), fixed_payload(0x0524, 2)),
        (kernel(0x03EE, 2, None), vec![1]),
        (classic(PROCESS, 39, 2), vec![]),
        (classic(PROCESS, 11, 2), vec![1, 0, 0, 0]),
        (classic(CLASS, 10, 1), vec![7]),
        (classic(CLASS, 11, 1), vec![7]),
        (manifest(MADE, 1, 0), values().into_iter().flat_map(|(_, bytes)| bytes).collect()),
        (manifest(MADE, 2, 2), vec![7]),
        (manifest(MADE, 3, 0), vec![1, 0, 0, 0]),
        (manifest(MADE, 4, 0), vec![1, 0, 0, 0, 0, 0, 0, 0]),
        (manifest(MADE, 5, 0), vec![1, 0, 2, 0]),
        (manifest(MADE, 6, 1), vec![7]),
        (EventHeader::Message(message), vec![1, 0, 0, 0]),
        (manifest(MADE, 8, 0), vec![7]),
        (manifest(MADE, 9, 0), vec![7]),
        (manifest(NAMELESS, 1, 1), vec![7]),
        (EventHeader::Event(zero()), vec![]),
    ]
}

/// The records in a trace. The last one contains its schema.
fn each_made(visit: impl FnMut(&Event<'_>, &Trace<'_>)) {
    let (all, made) = (records(), logging());
    let items = [
        Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, &made.schema),
        Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_PROV_TRAITS, &made.traits),
    ];
    let last = all.len() - 1;
    let record = |(index, (header, payload))| {
        let record = Record::new(header, true, payload);
        if index == last { record.with_items(items.to_vec()) } else { record }
    };
    let all: Vec<_> = all.iter().enumerate().map(|(index, (header, payload))| record((index, (*header, &payload[..])))).collect();
    each(all, visit);
}

/// The properties of an event in one line, then its fields as text in one line and as JSON in one line.
fn lines(event: &Event<'_>, schemas: &Schemas) -> String {
    let identity = names::identity(event, schemas);
    let name = names::event_of(event, schemas);
    let undecoded = match names::undecoded(event, schemas, Fault { reason: FaultKind::Rest, offset: 0 }) {
        DiagnosticKind::Fields(undecoded) => undecoded.event,
        other => panic!("{other:?}"),
    };
    let mut line = format!("{identity}: {name:?}, in diagnostics {undecoded}");
    let Some(decoded) = event.decode(schemas) else { return line + "\n" };
    line += &format!(", {decoded}, {}", names::source(decoded.source()));
    for (is, note) in [(!decoded.is_exact, "of another version"), (decoded.is_disputed, "disputed")] {
        if is {
            line += &format!(", {note}");
        }
    }
    for style in [Style::Text, Style::Json] {
        let mut out = Vec::new();
        if let Some(fault) = fields::fields(&decoded.fields, None, style, &mut out) {
            fields::undecoded(event.payload(), &fault, style, &mut out);
        }
        line += &format!("\n    {}", String::from_utf8(out).expect("text"));
    }
    line + "\n"
}

/// The properties of each event, and how they depend on the build and on the pointer size. `BLESS=1` updates the file.
#[test]
fn golden() {
    let (all, mut text, mut others) = (schemas(), String::new(), String::new());
    each_made(|event, _| {
        let of = lines(event, &all);
        for (name, other) in [
            ("of build 10000", all.clone().with_build(10_000)),
            ("of build 18000", all.clone().with_build(18_000)),
            ("of 32 bits", all.clone().with_pointers(PointerSize::Bits32)),
        ] {
            let other = lines(event, &other);
            if other != of {
                others += &format!("{name}: {other}");
            }
        }
        // If the header states the pointer size, `decode_by` with the same schema gives the same values.
        if let Some(decoded) = event.decode(&all) {
            let by = event.decode_by(&decoded.schema).map(|fields| fields.iter().collect::<Vec<_>>());
            assert_eq!(by, event.pointer_size().map(|_| decoded.iter().collect()), "{decoded}");
        }
        text += &of;
    });
    text += &others;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decoded.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).expect("the file can be written");
    }
    assert!(
        std::fs::read_to_string(path).expect("a file") == text,
        "the output changed; update it with BLESS=1, and review the difference\n{text}"
    );
}

/// Filters by names of events, keywords and providers ignore case. Each case states the number of selected events.
#[test]
fn filters_by_name() {
    let all = schemas();
    let event = |name| Filter::new().event(name);
    let keyword = |name| Filter::new().keyword_name(name);
    let named = |name| Filter::new().provider_name(name);
    for (name, filter, taken) in [
        ("event", event("maker-ω/SAME SIZE"), 1),
        ("events", event("maker-ω"), 8),
        ("class", event("process"), 2),
        ("provider", named("MAKER-ω"), 9),
        ("low", keyword("low"), 1),
        ("high", keyword("HÍGH"), 1),
        ("no mask", keyword("without a mask"), 0),
        ("own", keyword("own"), 1),
        ("either", keyword("low").keyword_name("high").keyword_name("hígh"), 2),
        ("bits", keyword("low").keyword(2), 2),
    ] {
        let (filter, mut count) = (filter.with_schemas(&all), 0);
        each_made(|event, trace| count += usize::from(filter.matches(event, 0, trace.clock())));
        assert_eq!(count, taken, "{name}");
    }
}

/// The source of a schema tells a provider with the name of a kernel event class from the kernel.
#[test]
fn names_of_classes() {
    let logging = logging();
    let traits = |name: &str| [&(name.len() as u16 + 3).to_le_bytes(), name.as_bytes(), &[0]].concat();
    for (name, source) in [("pRocess", Some("TraceLogging")), ("Maker", None)] {
        let traits = traits(name);
        let items = [
            Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, &logging.schema),
            Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_PROV_TRAITS, &traits),
        ];
        let record = Record::new(EventHeader::Event(zero()), true, &logging.payload).with_items(items.to_vec());
        each([record, Record::new(classic(PROCESS, 11, 2), true, &[1, 0, 0, 0])], |event, _| {
            let (provider, _) = names::event_of(event, Schemas::BUILT_IN).expect("a name");
            let source = source.filter(|_| event.provider() != Some(PROCESS));
            assert_eq!(names::other_than_class(event, provider, Schemas::BUILT_IN), source, "{provider}");
        });
    }
}

/// Names of sources, and schemas by class and type.
#[test]
fn names_and_schemas_of_tables() {
    let sources = [
        (Source::TraceLogging, "TraceLogging"),
        (Source::Specs, "specs"),
        (Source::Trace, "trace"),
        (Source::EventSource, "EventSource"),
        (Source::Manifest, "manifest"),
        (Source::Binary, "binary"),
        (Source::Catalogue, "catalogue"),
    ];
    sources.into_iter().for_each(|(source, name)| assert_eq!(names::source(source), name));
    let of_type = |opcode| Schemas::kernel_schema_by_type(PROCESS, opcode).map(ToString::to_string);
    assert_eq!((of_type(1).as_deref(), of_type(200)), (Some("Process/Start"), None));
}

/// The class of the kernel's events of threads, whose context switches have the hook identifier 0x0524.
const THREAD: Uuid = Uuid::from_u128(0x3d6fa8d1_fe05_11d0_9dda_00c04fd7ba7c);

/// Which of several sources wins, and whether the event is disputed, for libraries of a trace or user and for those of the program.
#[test]
fn priority() {
    let library = |fields: &[(&str, InType)], version| {
        let classic = model::Event {
            is_classic: true,
            opcode: Name { value: Some(36), ..Name::default() },
            version,
            ..event(0, "", Some(fields))
        };
        let events = [3, 0xFFFE].map(|id| event(id, "", Some(fields))).to_vec();
        let mut builder = LibraryBuilder::default();
        let origin = builder.origin(Source::Trace, "", None);
        builder.add(&Provider { guid: THREAD, events: vec![classic], ..Provider::default() }, origin);
        builder.add(&Provider { guid: MADE, events, ..Provider::default() }, origin);
        builder.build().bytes().to_vec()
    };
    let (large, small) = ([("A", InType::UINT64), ("B", InType::UINT64), ("C", InType::UINT64)], [("A", InType::UINT8)]);
    let switch = |version| (kernel(0x0524, version, None), fixed_payload(0x0524, 2));
    let by = |schemas: Schemas, record: (EventHeader, Vec<u8>)| {
        let mut result = String::new();
        each([Record::new(record.0, true, &record.1)], |event, _| {
            let Some(decoded) = event.decode(&schemas) else { return };
            let end = decoded.fields.check().map_or_else(|fault| fault.reason.to_string(), |()| "whole".to_owned());
            result = format!("{} {} {} {end}", names::source(decoded.source()), decoded.is_exact, decoded.is_disputed);
            assert!(decoded.variant.is_none() || decoded.variant == schemas.variant(event));
        });
        result
    };
    let user = |fields: &[_], version| Schemas::built_in().with_library(library(fields, version)).unwrap();
    let program = |schemas: Schemas, fields: &[_], version| {
        let bytes: &'static [u8] = library(fields, version).leak();
        schemas.with_static_library(etw_layouts_etl::payload::packed::Library::read(bytes).unwrap())
    };
    let specs = Schemas::built_in;
    assert_eq!(by(specs(), switch(2)), "specs true false whole");
    assert_eq!(by(specs(), switch(9)), "specs false false whole");
    // A library of a trace or user has priority over the specs, and one of the program has not, except for a version that the specs lack.
    assert_eq!(by(user(&large, 2), switch(2)), "trace true true whole");
    assert_eq!(by(user(&small, 2), switch(2)), "specs true true whole");
    assert_eq!(by(user(&large, 9), switch(2)), "specs true false whole");
    assert_eq!(by(user(&large, 9), switch(9)), "trace true false whole");
    assert_eq!(by(program(specs(), &large, 2), switch(2)), "specs true false whole");
    assert_eq!(by(program(specs(), &large, 9), switch(9)), "trace true false whole");
    // Sources that disagree only about names are disputed, but not about the case and the punctuation of names.
    let number = || (manifest(MADE, 3, 0), vec![7]);
    assert_eq!(by(program(user(&small, 0), &[("A", InType::INT8)], 0), number()), "trace true false whole");
    assert_eq!(by(program(user(&small, 0), &[("a ", InType::UINT8)], 0), number()), "trace true false whole");
    assert_eq!(by(program(user(&small, 0), &[("B", InType::UINT8)], 0), number()), "trace true true whole");
    // A part of an EventSource manifest has a schema of its own, unless another source describes the event.
    let chunk = |payload: &[u8]| (manifest(MADE, 0xFFFE, 0), payload.to_vec());
    assert_eq!(by(specs(), chunk(&[1, 1, 0, 0x5B, 1, 0, 0, 0, 0x3C])), "EventSource true false whole");
    assert_eq!(by(specs(), chunk(&[1, 1, 0, 0x5C, 1, 0, 0, 0, 0x3C])), "");
    assert_eq!(by(user(&small, 0), chunk(&[1, 1, 0, 0x5B, 1, 0, 0, 0, 0x3C])), "trace true false bytes after the last field");
}
