//! 10,000 corrupt sources of each kind cause no panic, and at least the stated share of events is still read.

use crate::tmf;
use etw_layouts_payload::PointerSize;
use etw_layouts_schemas::{Event, Messages, Schemas, binary, manifest, tmf as wpp, wevt};
use fastrand::Rng;
use test_support::wevt as kit;

const ROUNDS: usize = 10_000;

/// Changes, moves, inserts or removes a few bytes, or truncates the source.
fn corrupt(original: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..bytes.len().max(1));
        let length = random.usize(..16).min(bytes.len().saturating_sub(at));
        match random.u8(..40) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let piece = bytes[at..at + length].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes[at..at + length.min(4)].fill(0xFF),
            4 => bytes[at..at + length.min(4)].fill(0),
            _ => {
                let other = random.u8(..);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.choice([0, 1, 0x7F, 0x80, 0xFF, b'<', b'"', other]).unwrap();
                }
            }
        }
    }
    bytes
}

/// Corrupts a source, and returns the percentage of unchanged events.
fn survivors(original: &[u8], seed: u64, read: impl Fn(&[u8]) -> Option<Schemas>) -> usize {
    let whole: Vec<Event> = read(original).unwrap().providers.remove(0).events;
    let mut random = Rng::with_seed(seed);
    let (mut kept, mut all) = (0, 0);
    for _ in 0..ROUNDS {
        let bytes = corrupt(original, &mut random);
        let schemas = read(&bytes).unwrap_or_default();
        assert!(schemas.errors_total >= schemas.errors.len());
        assert!(schemas.errors.iter().all(|error| error.message.len() < 400));
        let events: Vec<_> = schemas.providers.iter().flat_map(|provider| &provider.events).collect();
        assert!(events.len() <= 2 * whole.len());
        kept += whole.iter().filter(|event| events.contains(event)).count();
        all += whole.len();
    }
    println!("{kept} of {all} events");
    100 * kept / all
}

/// Most damage makes XML malformed. The whole manifest is then rejected.
#[test]
fn manifests() {
    let text = include_bytes!("manifests/kinds.man");
    let percent = survivors(text, 1, |bytes| manifest::read(bytes).ok());
    assert!(percent >= 15, "{percent} %");
}

fn resource() -> (Vec<u8>, Vec<u8>) {
    let mut schemas = manifest::read(include_bytes!("manifests/kinds.man")).unwrap();
    schemas.providers[0].events.retain(|event| event.id != 3);
    let (resource, table) = kit::compile(&schemas.providers);
    (resource, kit::table(&table))
}

#[test]
fn resources() {
    let (resource, table) = resource();
    let mut messages = Messages::default();
    messages.add(table).unwrap();
    let percent = survivors(&resource, 2, |bytes| wevt::read(bytes, &messages).ok());
    assert!(percent >= 58, "{percent} %");
}

#[test]
fn binaries() {
    let (resource, table) = resource();
    let file = kit::image(Some(&resource), Some(&table));
    let percent = survivors(&file, 3, |bytes| binary::read(bytes, &[bytes]).ok());
    assert!(percent >= 58, "{percent} %");
}

#[test]
fn message_tables() {
    let texts: kit::Table = (0..100).map(|id| (id * 3, format!("message {id} %1"))).collect();
    let (table, mut random) = (kit::table(&texts), Rng::with_seed(4));
    let mut kept = 0;
    for _ in 0..ROUNDS {
        let mut messages = Messages::default();
        let _ = messages.add(corrupt(&table, &mut random));
        kept += texts.iter().filter(|(id, text)| messages.get(**id).as_ref() == Some(text)).count();
    }
    println!("{kept} messages");
    assert!(kept >= ROUNDS * 75, "{kept}");
}

#[test]
fn tmf_files() {
    let (whole, _) = wpp::read(tmf::FILE.as_bytes());
    let mut random = Rng::with_seed(5);
    let mut kept = 0;
    for _ in 0..ROUNDS {
        let (messages, errors) = wpp::read(&corrupt(tmf::FILE.as_bytes(), &mut random));
        assert!(errors.iter().all(|error| error.message.len() < 200));
        let payload: Vec<u8> = (0..random.usize(..99)).map(|_| random.u8(..)).collect();
        for message in &messages {
            let text = message.text(&payload, PointerSize::Bits64);
            assert!(text.text.len() < 1 << 21 && text.rest <= payload.len());
        }
        kept += whole.iter().filter(|message| messages.contains(message)).count();
    }
    println!("{kept} of {} messages", ROUNDS * whole.len());
    assert!(kept >= ROUNDS * whole.len() * 62 / 100, "{kept}");
}

/// Many events that share a large template exceed the limit, and need no memory.
#[test]
fn repeated_parts() {
    let mut schemas = manifest::read(include_bytes!("manifests/kinds.man")).unwrap();
    let provider = &mut schemas.providers[0];
    provider.events.truncate(1);
    let fields = provider.events[0].fields.as_mut().unwrap();
    let field = fields[0].clone();
    *fields = (0..5000).map(|number| etw_layouts_schemas::Field { name: format!("Field{number}"), ..field.clone() }).collect();
    let (mut resource, _) = kit::compile(&schemas.providers);
    let list = resource.windows(4).position(|window| window == b"EVNT").unwrap();
    let event = resource[list + 16..list + 64].to_vec();
    // A copy of the list at the end, with more events.
    let place = resource.windows(4).position(|window| window == u32::try_from(list).unwrap().to_le_bytes()).unwrap();
    let end = u32::try_from(resource.len()).unwrap().to_le_bytes();
    resource[place..place + 4].copy_from_slice(&end);
    resource.extend([&b"EVNT\0\0\0\0"[..], &20_000u32.to_le_bytes(), &[0; 4]].concat());
    resource.extend(event.repeat(20_000));
    let error = wevt::read(&resource, &Messages::default()).unwrap_err();
    assert!(error.message.starts_with("schemas too large"), "{error}");
}

/// A corrupt part of a resource loses only this part. A case has the error, the place, the bytes, and the numbers of remaining events, of
/// unchanged events, and of events with fields.
#[test]
fn parts() {
    let (resource, table) = resource();
    let mut messages = Messages::default();
    messages.add(table).unwrap();
    let whole = wevt::read(&resource, &messages).unwrap().providers.remove(0).events;
    let level: Vec<u8> = "win:Chatty".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let before =
        |part: &[u8], distance: usize| resource.windows(part.len()).position(|window| window == part).unwrap() - distance;
    let cases = [
        ("unsupported map", before(b"VMAP", 0), &b"QUER"[..], 3, 2, 3),
        ("corrupt template: the signature", before(b"TEMP", 0), b"TOMP", 3, 2, 2),
        ("corrupt name: more than 4096 bytes", before(&level, 4), &[0xFF; 4], 3, 2, 3),
        ("truncated", before(b"KEYW", 0) + 8, &[0xFF; 4], 3, 3, 3),
        ("truncated", before(b"MAPS", 0) + 8, &[0xFF; 4], 3, 2, 2),
        ("truncated", before(b"EVNT", 0) + 16 + 48 + 24, &[0xF0; 4], 3, 2, 3),
    ];
    for (error, at, bytes, left, same, with_fields) in cases {
        let mut corrupt = resource.clone();
        corrupt[at..at + bytes.len()].copy_from_slice(bytes);
        let schemas = wevt::read(&corrupt, &messages).unwrap_or_else(|found| panic!("{error}: {found}"));
        assert!(schemas.errors[0].message.starts_with(error), "{}, not {error}", schemas.errors[0]);
        let events = &schemas.providers[0].events;
        let counts = (
            events.len(),
            events.iter().filter(|event| whole.contains(event)).count(),
            events.iter().filter(|event| event.fields.is_some()).count(),
        );
        assert_eq!(counts, (left, same, with_fields), "{error}");
    }
}
