//! Schemas of events of Windows' own providers, as facts with their sources: what a trace is decoded with if it has no schemas.
//!
//! [`library`] finds and decodes events. [`entries`] has all facts of the catalogue. `README.md` of the crate states where they are from
//! and what was changed.

#![forbid(unsafe_code)]

mod entry;
mod manifest;
mod pack;
mod source;
mod text;
mod xml;

pub use entry::{Entry, Sources};
pub use manifest::{find, manifest};
pub use pack::pack;
pub use source::{Mask, SOURCES, Source};
pub use text::{Error, read, write};

use etw_layouts_schemas::Library;
use liblzma::bufread::XzDecoder;
use std::io::Read;
use std::sync::OnceLock;

/// The catalogue as a library of schemas, decompressed at the first call. Its origins are [`SOURCES`], in the same order.
///
/// Fields end with a structure whose members no source states: what is behind it in a payload is left over.
pub fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let bytes = decompress(include_bytes!(concat!(env!("OUT_DIR"), "/library.xz")));
        Library::from_bytes(bytes).expect("the build script writes a library")
    })
}

/// The text of the catalogue, decompressed.
pub fn text() -> String {
    String::from_utf8(decompress(include_bytes!("../events.txt.xz"))).expect("the build script has read it")
}

/// All facts of the catalogue, in the order of GUIDs. Decompresses and reads the whole text.
pub fn entries() -> Vec<Entry> {
    read(&text()).expect("the build script has read it")
}

/// Data of the crate itself.
fn decompress(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    XzDecoder::new(packed).read_to_end(&mut bytes).expect("the build script has written or read it");
    bytes
}
