//! Manifests.

use etw_layouts_schemas::{Field, Schemas, manifest};

/// The number of events is limited by the number of elements, references to fields point to earlier fields, and maps exist.
pub fn run(input: &[u8]) {
    match manifest::read(input) {
        Ok(schemas) => {
            let events: usize = schemas.providers.iter().map(|provider| provider.events.len()).sum();
            assert!(!schemas.providers.is_empty() && events <= input.len() / 8);
            sound(&schemas);
        }
        Err(error) => assert!(!error.message.is_empty() && error.message.len() < 1_000_000),
    }
}

/// Properties of the schemas from every reader.
pub(crate) fn sound(schemas: &Schemas) {
    assert!(schemas.errors.len() <= Schemas::MAX_ERRORS.min(schemas.errors_total));
    for provider in &schemas.providers {
        for event in &provider.events {
            event.fields.iter().for_each(|fields| check(fields, &mut Vec::new(), provider.maps.len()));
        }
    }
}

fn check<'a>(fields: &'a [Field], before: &mut Vec<&'a str>, maps: usize) {
    use etw_layouts_schemas::{Count, Length};
    let outer = before.len();
    for field in fields {
        assert!(field.map.is_none_or(|map| map < maps));
        for name in [
            if let Count::Field(name) = &field.count { Some(name) } else { None },
            if let Length::Field(name) = &field.length { Some(name) } else { None },
        ]
        .into_iter()
        .flatten()
        {
            assert!(before.contains(&&**name));
        }
        check(&field.members, before, maps);
        before.push(&field.name);
    }
    before.truncate(outer);
}

/// A manifest with every kind of definition, and an entity in a document type definition.
pub fn seeds() -> Vec<Vec<u8>> {
    let kinds = include_str!("../../../schemas/tests/manifests/kinds.man");
    let wide = "\u{FEFF}".encode_utf16().chain(kinds.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let entity = b"<!DOCTYPE a [<!ENTITY b 'c'>]><events><provider guid='&b;'/></events>".to_vec();
    vec![kinds.as_bytes().to_vec(), wide, entity]
}
