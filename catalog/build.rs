//! Packs the text of the catalogue into a library of schemas, compressed: reading the text in the program would take longer than most traces.

#[path = "src/entry.rs"]
mod entry;
#[path = "src/pack.rs"]
mod pack;
#[allow(dead_code)]
#[path = "src/source.rs"]
mod source;
#[allow(dead_code)]
#[path = "src/text.rs"]
mod text;

use liblzma::bufread::{XzDecoder, XzEncoder};
use std::io::Read;
use std::path::Path;
use std::{env, fs};

/// As fast as possible: a higher one compresses by a tenth more, and takes ten times as long.
const PRESET: u32 = 1;

fn main() {
    println!("cargo::rerun-if-changed=events.txt.xz");
    println!("cargo::rerun-if-changed=src");
    let packed = fs::read("events.txt.xz").expect("the text of the catalogue is part of the crate");
    let mut text = String::new();
    XzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("the text of the catalogue is xz");
    let entries = text::read(&text).unwrap_or_else(|error| panic!("events.txt.xz: {error}"));
    let library = pack::pack(entries);
    let mut bytes = Vec::new();
    XzEncoder::new(library.bytes(), PRESET).read_to_end(&mut bytes).expect("memory suffices");
    let folder = env::var_os("OUT_DIR").expect("cargo names the folder");
    fs::write(Path::new(&folder).join("library.xz"), bytes).expect("the folder is writable");
}
