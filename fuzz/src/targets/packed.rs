//! Libraries of schemas, and payloads decoded with them.

use etw_layouts_payload::packed::format::{FORMAT, HEADER, MAGIC};
use etw_layouts_payload::packed::{Library, Variant};
use etw_layouts_payload::{InType, MapKind, PointerSize, Source, Step};
use etw_layouts_schemas::{Count, Event, Field, Keyword, Length, LibraryBuilder, Map, MapEntry, Name, Provider};

/// The maximum number of events and providers of a corrupt library to read: references can create more of them than there are
/// bytes.
const MOST: usize = 200;

/// For any bytes, a library is read within its bounds, and the work for a walk is limited. The input is the size of a payload,
/// the payload, and a library. The magic number, format and size of the library are corrected.
pub fn run(input: &[u8]) {
    let Some((&size, rest)) = input.split_first() else { return };
    let (payload, library) = rest.split_at(rest.len().min(size.into()));
    let mut library = library.to_vec();
    library.resize(library.len().max(HEADER), 0);
    let size = library.len() as u32;
    library[..8].copy_from_slice(&MAGIC);
    library[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    library[12..16].copy_from_slice(&size.to_le_bytes());
    let library = Library::read(&library).expect("a corrected header");
    assert!(library.origins().count() <= library.bytes().len());
    for provider in library.providers().take(MOST) {
        assert!(library.provider(provider.guid()).is_none_or(|found| found.guid() == provider.guid()));
        assert!(provider.name().len() <= library.bytes().len());
        for variant in provider.events().take(MOST).flat_map(|variants| variants.take(4)) {
            assert_eq!(Variant::at(library, variant.place()), Some(variant));
            event(variant, payload);
        }
    }
}

fn event(variant: Variant<'_>, payload: &[u8]) {
    for name in [variant.task(), variant.opcode(), variant.level(), variant.channel()] {
        assert!(name.name.len() <= variant.provider().name().len().max(1 << 28));
    }
    let _ = (variant.keywords().take(MOST).count(), variant.message(), variant.symbol(), variant.origins().count());
    let Some(schema) = variant.schema() else { return };
    for pointers in [PointerSize::Bits32, PointerSize::Bits64] {
        let fields = schema.decode(payload, pointers);
        let (mut values, mut shown) = (0, 0);
        for value in fields.iter() {
            let (whole, part) = (payload.as_ptr_range(), value.bytes.as_ptr_range());
            assert!(value.bytes.is_empty() || whole.start <= part.start && part.end <= whole.end);
            values += 1;
            shown += if shown < 1 << 16 { value.to_string().len() } else { 0 };
        }
        assert_eq!(fields.steps().filter(|step| matches!(step, Ok(Step::Value(_)))).count(), values);
    }
}

/// A library with every kind of content.
pub fn seeds() -> Vec<Vec<u8>> {
    let entry = |value, name: &str| MapEntry { value, name: name.to_owned() };
    let map = |kind| Map { name: "MAP".to_owned(), kind, entries: vec![entry(3, "BOTH"), entry(1, "FIRST"), entry(2, "SECOND")] };
    let name = |value, name: &str| Name { value: Some(value), name: name.to_owned() };
    let of = |name: &str, in_type| Field::new(name, in_type);
    let fields = vec![
        Field { map: Some(0), ..of("State", InType::UINT32) },
        of("Count", InType::UINT16),
        Field {
            count: Count::Field("Count".into()),
            members: vec![of("Name", InType::UNICODESTRING)],
            ..of("List", InType::STRUCT)
        },
        Field { length: Length::Constant(2), ..of("Bytes", InType::BINARY) },
        Field { map: Some(1), ..of("Flags", InType::UINT8) },
    ];
    let event = |id, fields| Event {
        id,
        task: name(1, "Process"),
        opcode: name(1, "Start"),
        level: name(4, "Information"),
        channel: name(16, "Analytic"),
        keyword_mask: Some(16),
        keywords: vec!["PROCESS".to_owned()],
        symbol: "ProcessStart".to_owned(),
        message: "Process %1 started.".to_owned(),
        fields,
        ..Event::default()
    };
    let provider = Provider {
        name: "Provider".to_owned(),
        keywords: vec![Keyword { mask: Some(16), name: "PROCESS".to_owned() }],
        maps: vec![map(MapKind::Enumeration), map(MapKind::Flags)],
        events: vec![event(1, Some(fields)), event(1, Some(Vec::new())), event(2, None)],
        ..Provider::default()
    };
    let mut builder = LibraryBuilder::default();
    builder.origin(Source::Catalogue, "26100", Some(26100));
    builder.origin(Source::Catalogue, "7600", Some(7600));
    builder.add_masked(&provider, &[1, 2, 3]);
    let payload = [3, 0, 0, 0, 2, 0, b'a', 0, 0, 0, 0, 0, 9, 9, 3];
    vec![[&[payload.len() as u8][..], &payload, builder.build().bytes()].concat()]
}
