//! Packs the text of the catalogue into a library of schemas. It is not compressed, so that a program reads only the pages that it needs.
//! Decompression would take longer than reading most traces.

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

use lzma_rust2::XzReader;
use std::io::Read;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=events.txt.xz");
    println!("cargo::rerun-if-changed=src");
    let packed = fs::read("events.txt.xz").expect("the text of the catalogue is part of the crate");
    let mut text = String::new();
    XzReader::new(packed.as_slice(), false).read_to_string(&mut text).expect("the text of the catalogue is xz");
    let entries = text::read(&text).unwrap_or_else(|error| panic!("events.txt.xz: {error}"));
    let library = pack::pack(entries);
    let folder = env::var_os("OUT_DIR").expect("cargo names the folder");
    fs::write(Path::new(&folder).join("library"), library.bytes()).expect("the folder is writable");
}
