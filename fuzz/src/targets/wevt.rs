//! Compiled manifests and message tables, and PE files with them.

use super::manifest::sound;
use etw_layouts_schemas::{Messages, binary, manifest, wevt};

/// The input is read as a PE file, as a WEVT_TEMPLATE resource, and as a message table.
pub fn run(input: &[u8]) {
    let mut messages = Messages::default();
    let _ = messages.add(input.to_vec());
    assert!(messages.len() <= input.len() / 4);
    if let Ok(schemas) = wevt::read(input, &messages) {
        sound(&schemas);
    }
    if let Ok(schemas) = binary::read(input, &[input]) {
        sound(&schemas);
    }
}

/// A PE file, a resource and a message table.
pub fn seeds() -> Vec<Vec<u8>> {
    use test_support::wevt as kit;
    let mut schemas = manifest::read(include_bytes!("../../../schemas/tests/manifests/kinds.man")).expect("a manifest");
    // The kit does not support keywords of Windows.
    schemas.providers.iter_mut().for_each(|provider| provider.events.retain(|event| event.id != 3));
    let (resource, table) = kit::compile(&schemas.providers);
    let table = kit::table(&table);
    let image = kit::image(Some(&resource), Some(&table));
    vec![resource, table, image]
}
