//! Damaged libraries.

use crate::made::provider;
use etw_layouts_payload::packed::EventKey;
use etw_layouts_payload::{PointerSize, Source};
use etw_layouts_schemas::Library;
use fastrand::Rng;

/// Damaged libraries cause no panic and no unbounded work. All fields are within the library.
#[test]
fn corruptions() {
    let mut random = Rng::with_seed(0x33);
    let (mut kept, mut refused) = (0, 0);
    for _ in 0..10_000 {
        let providers: Vec<_> = (0..random.usize(1..4)).map(|_| provider(&mut random)).collect();
        let library = Library::build(&providers, Source::Manifest);
        let mut bytes = library.bytes().to_vec();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xFF),
                _ => {
                    // An offset to another place.
                    let other = (random.usize(..bytes.len()) as u32).to_le_bytes();
                    bytes[at & !3..].iter_mut().zip(other).for_each(|(byte, other)| *byte = other);
                }
            }
        }
        if random.u8(..8) == 0 {
            bytes.truncate(random.usize(..bytes.len()));
            let size = (bytes.len() as u32).to_le_bytes();
            bytes.iter_mut().skip(12).zip(size).for_each(|(byte, part)| *byte = part);
        }
        let Ok(library) = Library::from_bytes(bytes) else {
            refused += 1;
            continue;
        };
        let payload: Vec<u8> = (0..random.usize(..64)).map(|_| random.choice([0, 1, 5, 0xFF]).unwrap()).collect();
        let mut work = 0_usize;
        for provider in library.view().providers() {
            work += 1 + provider.name().len() + provider.keywords().count();
            // With corrupt references, a provider can have the keys of all providers, and an event the variants of all events.
            for variant in provider.events().take(100).flat_map(|variants| variants.take(100)) {
                work += 1
                    + variant.keywords().count()
                    + variant.origins().count()
                    + variant.message().len()
                    + format!("{variant:?}").len();
                let Some(schema) = variant.schema() else { continue };
                let fields = schema.decode(&payload, PointerSize::Bits64);
                let (values, text) =
                    (fields.iter().count(), fields.iter().take(100).map(|value| value.to_string().len()).sum::<usize>());
                work += values + text;
                let steps = fields.steps().filter(|step| matches!(step, Ok(etw_layouts_payload::Step::Value(_)))).count();
                assert_eq!(values, steps);
            }
        }
        for provider in &providers {
            kept += provider
                .events
                .iter()
                .filter(|event| library.view().find(provider.guid, EventKey::from_id(event.id, event.version)).first().is_some())
                .count();
        }
        assert!(work < 40_000_000, "{work}");
        let again: Vec<_> = library.providers().take(4).map(|provider| provider.events.len()).collect();
        assert!(again.len() <= 4);
    }
    assert!(refused < 2_000 && kept > 20_000, "{refused} {kept}");
}
