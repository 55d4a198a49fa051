//! Events whose schemas differ only in what the columns of a table do not show: names of values, and bytes of TraceLogging.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_schema::Field;
use etw_layouts::constants::{HOOK_ID, TRACE_HEADER_VERSION_FLAG};
use etw_layouts_etl::header::{Counters, EventHeader};
use etw_layouts_etl::payload::{InType, MapKind, Source};
use etw_layouts_etl::wire::{EVENT_HEADER, EVENT_HEADER_EXT_TYPE, PERFINFO_TRACE_HEADER, large, wire_guid, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{Item, LogFile, Schemas, Uuid};
use etw_layouts_schemas as model;
use etw_layouts_table::schema::TYPES_KEY;
use etw_layouts_table::write::{Format, Writer};
use etw_layouts_table::{Batch, Encoder, Error, Kind, Merge, Options, Order, Shape, parts};
use etw_layouts_trace::{self as trace, BytesSource, Trace, TraceFile};
use model::{LibraryBuilder, Map, MapEntry, Name, Provider};
use std::io::Cursor;
use std::sync::Arc;
use test_support::traces::PRODUCERS;

const PROVIDER: Uuid = Uuid::from_u128(0x11111111_2222_3333_4444_555555555555);

/// A trace with these records, in this order.
fn written<'a>(records: impl IntoIterator<Item = Record<'a>>) -> Vec<u8> {
    let producer = PRODUCERS[7];
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, LogFile::new(&producer)).unwrap();
    records.into_iter().for_each(|record| writer.push(0, &record).unwrap());
    writer.finish(0).unwrap().into_inner()
}

/// The tables of several traces, each with its schemas, by one encoder.
fn tables(traces: &[(Vec<u8>, Schemas)]) -> Vec<Batch> {
    let options = Options { shape: Shape::Typed, order: Order::File, ..Options::default() };
    let (mut encoder, mut merge, mut all) = (Encoder::new(options), Merge::default(), Vec::new());
    let mut keep = |batch| {
        all.push(batch);
        Ok::<(), Error>(())
    };
    for (bytes, schemas) in traces {
        let file = TraceFile::new("trace", BytesSource(bytes.clone())).unwrap();
        let trace = Trace::new(vec![file], trace::Options::new().schemas(schemas.clone())).unwrap();
        parts(&mut encoder, &mut trace.events().in_file_order(), &[], &mut |part| {
            part.unwrap().batches.into_iter().for_each(|batch| merge.add(batch, &mut keep).unwrap());
            true
        });
    }
    merge.rest(&mut keep).unwrap();
    all
}

/// Two versions of an event with the same fields; their values 1 have these names.
fn named(names: [&str; 2]) -> Schemas {
    let mut builder = LibraryBuilder::default();
    let origin = builder.origin(Source::Manifest, "made.man", None);
    let map = |name: &str| Map {
        name: name.to_owned(),
        kind: MapKind::Enumeration,
        entries: vec![MapEntry { value: 1, name: name.to_owned() }],
    };
    let event = |version: u8| model::Event {
        id: 1,
        version,
        task: Name { value: Some(1), name: "Changed".to_owned() },
        fields: Some(vec![model::Field { map: Some(usize::from(version)), ..model::Field::new("state", InType::UINT8) }]),
        ..model::Event::default()
    };
    let maps = names.map(map).to_vec();
    let provider =
        Provider { guid: PROVIDER, name: "Maker".to_owned(), events: vec![event(0), event(1)], maps, ..Provider::default() };
    builder.add(&provider, origin);
    Schemas::built_in().with_library(builder.build().bytes()).unwrap()
}

/// An event of the provider.
fn event(id: u16, version: u8, payload: &[u8]) -> Record<'_> {
    let mut header: EVENT_HEADER = zero();
    (header.ProviderId, header.TimeStamp) = (wire_guid(PROVIDER), large(1));
    (header.EventDescriptor.Id, header.EventDescriptor.Version) = (id, version);
    Record::new(EventHeader::Event(header), true, payload)
}

/// Events of one table take names of values from their own schema: that of the event, and that of the trace.
#[test]
fn names_of_values_are_those_of_the_schema() {
    let bytes = written([0, 1, 1].map(|version| event(1, version, &[1])));
    let batches =
        tables(&[(bytes.clone(), named(["on", "up"])), (bytes.clone(), named(["off", "up"])), (bytes, named(["open", "down"]))]);
    let is_ours = |batch: &&Batch| matches!(&batch.table.kind, Kind::Event { provider, .. } if provider == "Maker");
    let ours: Vec<_> = batches.iter().filter(is_ours).collect();
    let names = ours[0].rows.column_by_name("state_name").unwrap().as_dictionary::<Int32Type>();
    let texts = names.values().as_string::<i32>();
    let names: Vec<_> = names.keys().iter().map(|key| key.map_or("", |key| texts.value(key as usize))).collect();
    assert_eq!((ours.len(), &names[..]), (1, &["on", "up", "up", "off", "up", "up", "open", "down", "down"][..]));
}

/// The versions of an event have one table: columns have the smallest type for the values of all versions, or are texts. Events of other IDs with the
/// same name have tables of their own.
#[test]
fn versions_have_one_table() {
    use InType as T;
    let mut builder = LibraryBuilder::default();
    let origin = builder.origin(Source::Manifest, "made.man", None);
    let event_of = |id, version, fields: &[(&str, InType)]| model::Event {
        id,
        version,
        task: Name { value: Some(1), name: "Changed".to_owned() },
        fields: Some(fields.iter().map(|(name, ty)| model::Field::new(*name, *ty)).collect()),
        ..model::Event::default()
    };
    let events = vec![
        event_of(1, 0, &[("one", T::UINT8), ("two", T::INT8), ("three", T::UINT16), ("old", T::UINT8)]),
        event_of(1, 1, &[("two", T::UINT16), ("ONE", T::UINT32), ("three", T::ANSISTRING), ("four", T::INT16)]),
        event_of(2, 0, &[("one", T::ANSISTRING)]),
    ];
    builder.add(&Provider { guid: PROVIDER, name: "Maker".to_owned(), events, ..Provider::default() }, origin);
    let schemas = Schemas::built_in().with_library(builder.build().bytes()).unwrap();
    let (old, new) = ([1, 0xFF, 2, 0, 3], [0xFF, 0xFF, 4, 0, 0, 0x80, b'a', b'b', 0, 0xFE, 0xFF]);
    let records = [event(1, 0, &old), event(1, 1, &new), event(2, 0, b"x\0"), event(1, 0, &old[..3]), event(1, 1, &new)];
    let mut rows = Vec::new();
    for batch in tables(&[(written(records), schemas)]) {
        if batch.table.kind == (Kind::Event { provider: "Maker".into(), event: "Changed_1".into() }) {
            let types = |field: &Arc<Field>| field.metadata().get(TYPES_KEY).map_or("", String::as_str).to_owned();
            let fields = batch.table.schema.fields().iter().skip_while(|field| field.name() != "two");
            let columns: Vec<_> =
                fields.map(|field| format!("{} {} {}", field.name(), field.data_type(), types(field))).collect();
            let expected = [
                "two Int32 uint16 int8",
                "ONE UInt32 uint32 uint8",
                "three Utf8 text uint16",
                "four Int16 ",
                "old UInt8 ",
                "payload Binary ",
            ];
            assert_eq!(columns, expected);
        }
        let mut writer = Writer::new(Format::Csv, &batch.table, Vec::new()).unwrap();
        writer.write(&batch.rows).unwrap();
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let end = |line: &str| line.split_once(",manifest,").map(|(_, end)| end.to_owned());
        rows.extend(text.lines().filter_map(end));
    }
    rows.sort();
    // The third event of version 0 ends within its fields, and its payload has its bytes.
    assert_eq!(rows, ["-1,1,,,,01ff02", "-1,1,2,,3,", "65535,2147483652,ab,-2,,", "65535,2147483652,ab,-2,,", "x,"]);
}

/// The schema of a TraceLogging event with a field of one byte. Tags change its bytes, but not its table.
fn logged(name: &str, tags: u32) -> Vec<u8> {
    let tag = |shift: u32| 0x80 | (tags >> shift) as u8 & 0x7F;
    let mut schema = [&[0, 0, 0], name.as_bytes(), b"\0field\0", &[0x84, 0x80, tag(0), tag(7), tag(14) & 0x7F]].concat();
    let size = schema.len() as u16;
    schema[..2].copy_from_slice(&size.to_le_bytes());
    schema
}

/// When the limit of kinds is exceeded, the numbers of TraceLogging schemas begin again. No kind that is kept has one of the old numbers.
#[test]
fn kinds_over_the_limit_are_not_mixed_up() {
    const MOST: u32 = 1 << 14;
    let traits = [&[16, 0][..], b"Maker.Provider\0"].concat();
    let traits = [&(traits.len() as u16).to_le_bytes()[..], &traits[2..]].concat();
    // A kind that has no such number.
    let kernel = {
        let mut header: PERFINFO_TRACE_HEADER = zero();
        let mut packet = header.Packet();
        packet.set_HookId(HOOK_ID(0x0524));
        header.set_Packet(packet);
        header.set_Version(TRACE_HEADER_VERSION_FLAG(2));
        Record::new(EventHeader::PerfInfo(header, Counters::default()), true, &[0; 8])
    };
    // The limit is exceeded among the first names. Among the second ones is the schema with the same number.
    let names: Vec<String> = (0..16).map(|number| format!("Event{number:02}")).collect();
    let filler = || (0..MOST - 8).map(|tags| logged("Filler", tags));
    let [first, second] = [&names[..8], &names[8..]].map(|names| names.iter().map(|name| logged(name, 0)));
    let schemas: Vec<_> = filler().chain(first).chain(filler()).chain(second).collect();
    let event = |schema| {
        let mut header: EVENT_HEADER = zero();
        header.TimeStamp = large(1);
        let items = vec![
            Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, schema),
            Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_PROV_TRAITS, &traits),
        ];
        Record::new(EventHeader::Event(header), true, &[1]).with_items(items)
    };
    let records = [kernel].into_iter().chain(schemas.iter().map(|schema| event(schema)));
    let mut rows: Vec<(String, usize)> = Vec::new();
    for batch in tables(&[(written(records), Schemas::built_in())]) {
        if let Kind::Event { event, .. } = &batch.table.kind
            && event.starts_with("Event")
        {
            rows.push((event.clone(), batch.rows.num_rows()));
        }
    }
    rows.sort();
    assert_eq!(rows, names.into_iter().map(|name| (name, 1)).collect::<Vec<_>>());
}
