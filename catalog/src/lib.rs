//! Schemas of events of the providers of Windows, as facts with their sources. They are used to decode traces without schemas.
//!
//! [`library`] finds and decodes events. [`entries`] returns all facts of the catalogue. `README.md` of the crate states their sources and
//! the changes.

#![forbid(unsafe_code)]

mod entry;
mod manifest;
mod pack;
mod source;
mod text;
mod xml;

pub use entry::{Entry, Sources};
pub use manifest::{builds, find, manifest};
pub use pack::pack;
pub use source::{Mask, SOURCES, Source};
pub use text::{Error, read, write};
pub use xml::PLACEHOLDER;

use etw_layouts_payload::packed::Library;
use lzma_rust2::XzReader;
use std::io::Read;

/// The catalogue as a library of schemas. Its origins are [`SOURCES`], in the same order.
///
/// If no source states the members of a structure, or the length of binary data before other fields, the fields end with a structure without
/// members in this place, and the rest of the payload is not decoded.
pub fn library() -> Library<'static> {
    Library::read(include_bytes!(concat!(env!("OUT_DIR"), "/library"))).expect("the build script writes a library")
}

/// The text of the catalogue, decompressed.
pub fn text() -> String {
    let mut text = String::new();
    let packed = include_bytes!("../events.txt.xz");
    XzReader::new(packed.as_slice(), false).read_to_string(&mut text).expect("the build script has read it");
    text
}

/// All facts of the catalogue, in the order of GUIDs. Decompresses and reads the whole text.
pub fn entries() -> Vec<Entry> {
    read(&text()).expect("the build script has read it")
}
