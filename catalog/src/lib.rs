//! Schemas of events of Windows' own providers, as facts with their sources: what a trace is decoded with if it has no schemas.
//!
//! [`entries`] has all facts of the catalogue. `README.md` of the crate states where they are from and what was changed.

#![forbid(unsafe_code)]

mod source;
mod text;

pub use source::{Mask, SOURCES, Source};
pub use text::{Error, read, write};

use etw_layouts_schemas::Provider;
use liblzma::bufread::XzDecoder;
use std::io::Read;

/// A provider as the catalogue knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The provider. Its events are in the order of ID and version; an event whose sources disagree about its fields is there once for each
    /// statement. A structure without members is one whose members no source states.
    pub provider: Provider,
    /// Sources of each event of `provider`, in the same order.
    pub sources: Vec<Sources>,
}

/// Sources of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Sources that list the event, with fields or without.
    pub listed: Mask,
    /// Sources that state these fields.
    pub fields: Mask,
}

const DATA: &[u8] = include_bytes!("../events.txt.xz");

/// The text of the catalogue, decompressed.
pub fn text() -> String {
    let mut text = String::new();
    let result = XzDecoder::new(DATA).read_to_string(&mut text);
    debug_assert!(result.is_ok(), "{result:?}");
    text
}

/// All facts of the catalogue, in the order of GUIDs. Decompresses and reads the whole text.
pub fn entries() -> Vec<Entry> {
    let entries = read(&text());
    debug_assert!(entries.is_ok(), "{:?}", entries.err());
    entries.unwrap_or_default()
}
