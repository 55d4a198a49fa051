//! Libraries contain all parts of the providers, and decode like static tables.

use crate::kit;
use crate::made::provider;
use etw_layouts_payload::packed::EventKey;
use etw_layouts_payload::packed::Variant;
use etw_layouts_payload::{
    self as payload, FaultKind, FieldList, InType, MapKind, OutType, PointerSize, Schema, Source, Step, Uuid, Value,
};
use etw_layouts_schemas::{Count, Event, Field, Length, Library, LibraryBuilder, Map, MapEntry, Name, Provider};
use fastrand::Rng;

/// All parts of random providers are read back. Equal events are stored once; variants are in the order in which they were added.
#[test]
fn round_trip() {
    let mut random = Rng::with_seed(0x31);
    let (mut found, mut variants) = (0_usize, 0_usize);
    for _ in 0..500 {
        let providers: Vec<_> = (0..random.usize(..6)).map(|_| provider(&mut random)).collect();
        let library = Library::build(&providers, Source::Manifest);
        let again: Vec<_> = library.providers().collect();
        assert_eq!(Library::build(&again, Source::Manifest).view().providers().count(), again.len());
        for provider in &providers {
            let packed = library.view().provider(provider.guid).unwrap();
            let same: Vec<_> = providers.iter().filter(|other| other.guid == provider.guid).collect();
            let first = same.iter().map(|provider| provider.name.as_str()).find(|name| !name.is_empty());
            assert_eq!(packed.name(), first.unwrap_or_default());
            let keywords: Vec<_> = packed.keywords().collect();
            assert!(provider.keywords.iter().all(|keyword| keywords.contains(&(keyword.mask, keyword.name.as_str()))));
            for event in &provider.events {
                found += 1;
                let all = library.view().find(provider.guid, EventKey::from_id(event.id, event.version));
                variants += all.count();
                let expected = resolved(event, &provider.maps);
                let one = |variant: Variant<'_>| {
                    let plain = Library::provider(variant.provider(), |other| *other == variant);
                    resolved(&plain.events[0], &plain.maps)
                };
                assert_eq!(all.map(one).filter(|other| *other == expected).count(), 1, "{event:?}");
                let schema = all.map(|variant| variant.schema()).find(|schema| schema.is_some() == event.fields.is_some());
                assert_eq!(schema.unwrap().is_some(), event.fields.is_some());
            }
            let others = [(1, 1), (256, 253), (2, 255)];
            assert!(
                others.iter().all(|(id, version)| library
                    .view()
                    .find(provider.guid, EventKey::from_id(*id, *version))
                    .first()
                    .is_none())
            );
        }
        assert!(library.view().find(Uuid::from_u128(7), EventKey::from_id(1, 0)).first().is_none());
    }
    assert!(found > 2_000 && variants > found, "{found} {variants}");
}

/// Fields end with the first one of unknown extent, as a structure without members.
#[test]
fn unknown_extent() {
    let binary = |length, out_type| Field { length, out_type, ..Field::new("Binary", InType::BINARY) };
    let structure = |members| Field { members, ..Field::new("Structure", InType::STRUCT) };
    let number = || Field::new("Number", InType::UINT8);
    let open = || binary(Length::Type, OutType::NULL);
    let unknown = |name: &str| Field::new(name, InType::STRUCT);
    let added = |fields: &[Field]| {
        let event = Event { fields: Some(fields.to_vec()), ..Event::default() };
        let provider = Provider { events: vec![event], ..Provider::default() };
        let library = Library::build(&[provider], Source::Manifest);
        library.providers().next().unwrap().events[0].fields.clone().unwrap()
    };
    for whole in [
        vec![number(), open()],
        vec![binary(Length::Constant(2), OutType::NULL), number()],
        vec![binary(Length::Type, OutType::IPV6), number()],
        vec![number(), structure(vec![number(), open()])],
    ] {
        assert_eq!(added(&whole), whole);
    }
    assert_eq!(added(&[number(), open(), number()]), [number(), unknown("Binary")]);
    assert_eq!(added(&[structure(vec![]), number()]), [unknown("Structure")]);
    for members in [vec![open(), number()], vec![open()], vec![structure(vec![])]] {
        assert_eq!(added(&[number(), structure(members), number()]), [number(), unknown("Structure")]);
    }
    // A payload with bytes from that field on has its reason; others end with the fields.
    let reason = |fields: &[Field], payload: &[u8]| {
        let event = Event { id: 1, fields: Some(fields.to_vec()), ..Event::default() };
        let library = Library::build(&[Provider { events: vec![event], ..Provider::default() }], Source::Manifest);
        let variant = library.view().find(Uuid::nil(), EventKey::from_id(1, 0)).first().unwrap();
        variant.schema().unwrap().decode(payload, PointerSize::Bits64).check().err().map(|fault| (fault.reason, fault.offset))
    };
    for fields in [vec![number(), open(), number()], vec![number(), structure(vec![structure(vec![])])]] {
        assert_eq!((reason(&fields, &[1]), reason(&fields, &[1, 2])), (None, Some((FaultKind::Unstated, 1))));
    }
    for fields in [vec![number()], vec![structure(vec![number()])]] {
        assert_eq!((reason(&fields, &[1]), reason(&fields, &[1, 2])), (None, Some((FaultKind::Rest, 1))));
    }
}

/// An event with its maps instead of their indices. Enumerations are sorted, because a library does not keep their order.
fn resolved(event: &Event, maps: &[Map]) -> (Event, Vec<Option<Map>>) {
    fn take<'a>(fields: &'a mut [Field], maps: &'a [Map], out: &mut Vec<Option<Map>>) {
        for field in fields {
            let mut map = field.map.take().map(|map| maps[map].clone());
            if let Some(map) = map.as_mut().filter(|map| map.kind == MapKind::Enumeration) {
                map.entries.sort_by_key(|entry| entry.value);
            }
            out.push(map);
            take(&mut field.members, maps, out);
        }
    }
    let (mut event, mut found) = (event.clone(), Vec::new());
    take(event.fields.as_deref_mut().unwrap_or_default(), maps, &mut found);
    (event, found)
}

/// The fields of a library decode complete and truncated payloads in the same way as the same fields of a table.
#[test]
fn walk() {
    let mut random = Rng::with_seed(0x32);
    let (mut walked, mut cut_values) = (0, 0);
    while walked < 2_000 {
        let made = kit::made(&mut random);
        let [table, _] = made.schemas;
        let FieldList::Table { all, .. } = table.fields else { panic!("no table") };
        let Some(fields) = model(all) else { continue };
        walked += 1;
        let event = Event { fields: Some(fields), ..Event::default() };
        let library = Library::build(&[Provider { events: vec![event], ..Provider::default() }], Source::Trace);
        let packed = library.view().find(Uuid::nil(), EventKey::from_id(0, 0)).next().unwrap().schema().unwrap();
        let length = if random.bool() { made.payload.len() } else { random.usize(..=made.payload.len()) };
        let payload = &made.payload[..length];
        let steps =
            |schema: &Schema<'_>| format!("{:?}", schema.decode(payload, made.pointers).steps().map(plain).collect::<Vec<_>>());
        assert_eq!(steps(&packed), steps(&table));
        let values = |schema: &Schema<'_>| {
            let mut values = schema.decode(payload, made.pointers).iter();
            let all: Vec<_> = values.by_ref().map(|value| format!("{value:?}")).collect();
            (all, values.fault(), values.rest().len())
        };
        assert_eq!(values(&packed), values(&table));
        cut_values += usize::from(length < made.payload.len()) * values(&table).0.len();
    }
    assert!(cut_values > 1_000);
}

/// A value, or the name and size of a structure or array that begins. Neither at the end of a structure or array.
type Plain<'a> = (Option<Value<'a>>, Option<(&'a str, u16)>);

/// A step without the references between fields, which differ.
fn plain(step: Result<Step<'_>, payload::Fault>) -> Result<Plain<'_>, payload::Fault> {
    step.map(|step| match step {
        Step::Value(value) => (Some(value), None),
        Step::Structure(field) => (None, Some((field.name, field.members.count))),
        Step::Array(field, count) => (None, Some((field.name, count))),
        Step::End => (None, None),
    })
}

/// The fields of a table as plain data. In the table, members follow their structure. `None` if a kind of field exists only in TraceLogging.
fn model(all: &[payload::Field<'_>]) -> Option<Vec<Field>> {
    fn some(all: &[payload::Field<'_>], at: &mut usize, count: usize) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        while fields.len() < count && *at < all.len() {
            let field = &all[*at];
            *at += 1;
            let name = |index: u16| all[usize::from(index)].name.to_owned();
            fields.push(Field {
                out_type: field.out_type,
                count: match field.count {
                    payload::Count::One => Count::One,
                    payload::Count::Constant(count) => Count::Constant(count),
                    payload::Count::Field(index) => Count::Field(name(index).into()),
                    _ => return None,
                },
                length: match field.length {
                    payload::Length::Type => Length::Type,
                    payload::Length::Constant(length) => Length::Constant(length),
                    payload::Length::Field(index) => Length::Field(name(index).into()),
                    _ => return None,
                },
                members: if field.is_structure() { some(all, at, field.members.count.into())? } else { Vec::new() },
                ..Field::new(field.name, field.in_type)
            });
        }
        Some(fields)
    }
    some(all, &mut 0, usize::MAX)
}

/// Names of values, by the maps of a library.
#[test]
fn maps() {
    let entry = |value, name: &str| MapEntry { value, name: name.to_owned() };
    let map = |kind, entries| Map { name: "MAP".to_owned(), kind, entries };
    let maps = vec![
        map(MapKind::Enumeration, vec![entry(5, "Waiting"), entry(0, "Ready"), entry(5, "Other")]),
        map(MapKind::Flags, vec![entry(3, "BOTH"), entry(1, "FIRST"), entry(2, "SECOND"), entry(8, "LAST")]),
    ];
    let field = |map| Field { map: Some(map), ..Field::new("f", payload::InType::UINT8) };
    let event = Event { fields: Some(vec![field(0), field(1)]), ..Event::default() };
    let library = Library::build(&[Provider { maps, events: vec![event], ..Provider::default() }], Source::Binary);
    let schema = library.view().find(Uuid::nil(), EventKey::from_id(0, 0)).next().unwrap().schema().unwrap();
    assert_eq!(schema.source, Source::Binary);
    for (payload, state, flags) in [([5, 3], "Waiting", "BOTH"), ([0, 0x1A], "Ready", "SECOND|LAST|0x10"), ([6, 0], "6", "0")] {
        let fields = schema.decode(&payload, PointerSize::Bits64);
        assert_eq!(fields.iter().map(|value| value.to_string()).collect::<Vec<_>>(), [state, flags]);
        assert_eq!(fields.at(0).unwrap().value_name(), Some(state).filter(|name| *name != "6"));
    }
}

/// Sources of variants, by mask and by index, and names of events.
#[test]
fn sources() {
    let event = |task: &str, opcode: &str, symbol: &str, fields| Event {
        task: Name { value: Some(1), name: task.to_owned() },
        opcode: Name { value: Some(1), name: opcode.to_owned() },
        symbol: symbol.to_owned(),
        fields,
        ..Event::default()
    };
    let mut builder = LibraryBuilder::default();
    let names = ["Windows 7", "Windows 10 1507", "Windows 11 24H2"];
    for (name, build) in names.into_iter().zip([7600, 10240, 26100]) {
        builder.origin(Source::Catalogue, name, Some(build));
    }
    let events = vec![
        event("Process", "Start", "", Some(Vec::new())),
        event("Process", "Info", "", None),
        event("", "Start", "SYMBOL", None),
        event("Process", "Start", "", Some(Vec::new())),
        event("left", "out", "", None),
    ];
    builder.add_masked(&Provider { events, ..Provider::default() }, &[0b001, 0b010, 0b100, 0b100]);
    let library = builder.build();
    let variants: Vec<_> = library.view().find(Uuid::nil(), EventKey::from_id(0, 0)).collect();
    let shown: Vec<_> = variants
        .iter()
        .map(|variant| (variant.name(), variant.origins().map(|origin| origin.build.unwrap()).collect()))
        .collect();
    assert_eq!(shown, [("Process/Start", vec![7600, 26100]), ("Process", vec![10240]), ("SYMBOL", vec![26100])]);
    assert_eq!(variants.iter().map(|variant| variant.schema().is_some()).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(library.view().origins().map(|origin| origin.name).collect::<Vec<_>>(), names);

    // More sources than a mask has bits.
    let mut builder = LibraryBuilder::default();
    for index in 0..40 {
        let origin = builder.origin(Source::Binary, &format!("{index}.dll"), None);
        builder.add(&Provider { events: vec![Event { id: index, ..Event::default() }], ..Provider::default() }, origin);
    }
    let library = builder.build();
    for index in 0..40 {
        let variant = library.view().find(Uuid::nil(), EventKey::from_id(index, 0)).next().unwrap();
        let names: Vec<_> = variant.origins().map(|origin| origin.name.to_owned()).collect();
        assert_eq!((names, variant.is_from(index.into()), variant.is_from(40)), (vec![format!("{index}.dll")], true, false));
    }
}
