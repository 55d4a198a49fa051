//! Compiled manifests and message tables, and PE files with them.

use crate::manifest::sound;
use etw_layouts_schemas::{Messages, binary, manifest, wevt};

/// The input is a PE file, a WEVT_TEMPLATE resource, or a message table: all are tried.
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

/// One of each.
pub fn seeds() -> Vec<Vec<u8>> {
    use test_support::wevt as kit;
    let mut schemas = manifest::read(include_bytes!("../../schemas/tests/manifests/kinds.man")).expect("a manifest");
    // The kit has no keywords that Windows defines.
    schemas.providers.iter_mut().for_each(|provider| provider.events.retain(|event| event.id != 3));
    let (resource, table) = kit::compile(&schemas.providers);
    let table = kit::table(&table);
    let image = kit::image(Some(&resource), Some(&table));
    vec![resource, table, image]
}
