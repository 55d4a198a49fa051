//! Annotations: texts that the intrinsic `__annotation` of Microsoft's compiler writes to a program database.
//!
//! The records are described by `ANNOTATIONSYM`, `PROCSYM32` and `MODI` in Microsoft's microsoft-pdb.

use super::{container, stream};
use crate::identity::MODULES;
use crate::little_endian::{u16_at, u32_at};
use std::collections::BTreeSet;

/// Kinds of symbols: an annotation, and functions, with their type or with their identifier.
const ANNOTATION: u16 = 0x1019;
const FUNCTIONS: [u16; 4] = [0x110F, 0x1110, 0x1146, 0x1147];

/// Offsets in the record of a function: where its scope ends in the stream, and its name.
const END: usize = 6;
const FUNCTION_NAME: usize = 37;
/// Offset of the texts in the record of an annotation.
const TEXTS: usize = 10;

/// Size of the header of the module stream, offset in it of the size of the list of modules, and size of an entry before its two names.
const HEADER: usize = 64;
const LIST_SIZE: usize = 24;
const ENTRY: usize = 64;
/// Offsets in an entry: the number of the stream of the module, and the size of the symbols in it.
const MODULE_STREAM: usize = 34;
const SYMBOLS_SIZE: usize = 36;

/// An annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotation<'a> {
    /// Index of its module, from 0.
    pub module: u32,
    /// Name of the function that contains it; `None` if it is outside of functions.
    pub function: Option<&'a [u8]>,
    /// Its texts, each with a zero byte after it. The encoding is UTF-8.
    texts: &'a [u8],
}

impl<'a> Annotation<'a> {
    /// Its texts, in the order of the arguments.
    pub fn texts(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.texts.split_inclusive(|byte| *byte == 0).map(|text| text.strip_suffix(b"\0").unwrap_or(text))
    }
}

/// Calls `see` with each annotation, module by module, until the streams have more bytes than the file. Returns the indices of modules whose symbols
/// are corrupt or not read.
pub(super) fn all(file: &mut container::File<'_>, file_size: usize, mut see: impl FnMut(Annotation<'_>)) -> Vec<u32> {
    let modules = stream(file, MODULES);
    let (mut streams, mut corrupt) = (BTreeSet::new(), Vec::new());
    // Each page belongs to one stream. In a corrupt file, streams can share pages.
    let mut left = file_size;
    let size = u32_at(&modules, LIST_SIZE).unwrap_or_default() as usize;
    let mut list = modules.get(HEADER..).unwrap_or_default();
    list = list.get(..size).unwrap_or(list);
    for module in 0.. {
        if list.is_empty() {
            break;
        }
        let Some((number, size, rest)) = entry(list) else {
            corrupt.push(module);
            break;
        };
        list = rest;
        if number == u16::MAX {
            continue;
        }
        // Each stream belongs to one module.
        let is_first = streams.insert(number);
        let symbols = if is_first && left > 0 { stream(file, number) } else { Vec::new() };
        left = left.saturating_sub(symbols.len());
        let is_whole = symbols.get(..size).is_some_and(|symbols| of_module(symbols, module, &mut see));
        if !is_whole {
            corrupt.push(module);
        }
    }
    corrupt
}

/// The number of the stream of a module, the size of the symbols in it, and the list of modules after the entry. The number is that of no stream
/// if the module has no symbols.
fn entry(list: &[u8]) -> Option<(u16, usize, &[u8])> {
    let (number, size) = (u16_at(list, MODULE_STREAM)?, u32_at(list, SYMBOLS_SIZE)? as usize);
    let mut names = list.get(ENTRY..)?.split_inclusive(|byte| *byte == 0);
    let length = ENTRY + names.next()?.len() + names.next()?.len();
    Some((number, size, list.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Finds the annotations of a module, whose symbols follow a signature of 4 bytes. Returns whether the symbols end with a record.
fn of_module(symbols: &[u8], module: u32, see: &mut impl FnMut(Annotation<'_>)) -> bool {
    let (mut at, mut function) = (4, (0, None));
    while let Some(record) = u16_at(symbols, at).and_then(|size| symbols.get(at + 2..)?.get(..size.into())) {
        match u16_at(record, 0) {
            Some(kind) if FUNCTIONS.contains(&kind) => {
                let name = record.get(FUNCTION_NAME..).and_then(|rest| rest.split(|byte| *byte == 0).next());
                function = (u32_at(record, END).unwrap_or_default() as usize, name);
            }
            Some(ANNOTATION) => {
                let (count, texts) = (u16_at(record, TEXTS - 2).unwrap_or_default(), record.get(TEXTS..).unwrap_or_default());
                let length = texts.split_inclusive(|byte| *byte == 0).take(count.into()).map(<[u8]>::len).sum();
                let (end, name) = function;
                see(Annotation { module, function: name.filter(|_| at < end), texts: &texts[..length] });
            }
            _ => {}
        }
        at += 2 + record.len();
    }
    symbols.is_empty() || at == symbols.len()
}
