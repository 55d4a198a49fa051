//! Addresses of global variables and functions: the public symbols of a program database, converted from sections to the image.

use crate::little_endian::{u16_at, u32_at};
use std::collections::{BTreeMap, BTreeSet};

/// Kind of public symbols.
const PUBLIC: u16 = 0x110E;

/// Size in bytes of the header of the stream that describes the others.
const HEADER: usize = 64;
/// Offset in that header of the number of the symbol stream.
const SYMBOLS: usize = 20;
/// Offsets in that header of the sizes of the parts after it; the last part has the numbers of further streams.
const SIZES: [usize; 6] = [24, 28, 32, 36, 40, 52];
/// Indices among those streams: the map from linker addresses to image addresses, the sections of the image, and the original
/// sections of the linker, used if a tool has moved code and data since.
const MAP: usize = 4;
const SECTIONS: usize = 5;
const LINKED_SECTIONS: usize = 10;
/// Size in bytes of a section header, and offset of its address.
const SECTION: usize = 40;
const SECTION_ADDRESS: usize = 12;

/// Numbers of the streams with addresses; `None` for those that the file lacks.
pub(super) struct Streams {
    pub symbols: u16,
    pub map: Option<u16>,
    pub sections: u16,
}

impl Streams {
    /// Decodes them from the module stream; `None` if it has none, as in files without an image.
    pub fn read(modules: &[u8]) -> Option<Streams> {
        if u32_at(modules, 0) != Some(u32::MAX) {
            return None;
        }
        let size = |at: &usize| u32_at(modules, *at).and_then(|size| usize::try_from(size).ok());
        let others = SIZES.iter().try_fold(HEADER, |sum, at| sum.checked_add(size(at)?))?;
        let stream = |place: usize| u16_at(modules, others.checked_add(place * 2)?).filter(|stream| *stream != u16::MAX);
        let symbols = u16_at(modules, SYMBOLS).filter(|stream| *stream != u16::MAX)?;
        let moved = stream(MAP).zip(stream(LINKED_SECTIONS));
        Some(match moved {
            Some((map, sections)) => Streams { symbols, map: Some(map), sections },
            None => Streams { symbols, map: None, sections: stream(SECTIONS)? },
        })
    }
}

/// Addresses of wanted names, relative to the image base. Of a duplicate name, the first address is used.
pub(super) fn addresses(symbols: &[u8], sections: &[u8], map: Option<&[u8]>, names: &BTreeSet<&str>) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut rest = symbols;
    while let Some(record) = u16_at(rest, 0).and_then(|length| rest.get(2..)?.get(..usize::from(length))) {
        if let Some((name, section, offset)) = public(record)
            && let Some(name) = wanted(name, names)
            && let Some(address) = address(sections, map, section, offset)
        {
            found.entry(name.to_owned()).or_insert(address);
        }
        rest = &rest[2 + record.len()..];
    }
    found
}

/// Name, section and offset of a public symbol.
fn public(record: &[u8]) -> Option<(&[u8], u16, u32)> {
    let (offset, section, name) = (u32_at(record, 6)?, u16_at(record, 10)?, record.get(12..)?);
    (u16_at(record, 0)? == PUBLIC).then_some((name.split(|byte| *byte == 0).next()?, section, offset))
}

/// The wanted name of a symbol, whose own name has a leading underscore in 32-bit images.
fn wanted<'n>(name: &[u8], names: &BTreeSet<&'n str>) -> Option<&'n str> {
    let name = str::from_utf8(name).ok()?;
    let plain = || names.get(name.strip_prefix('_')?);
    names.get(name).or_else(plain).copied()
}

fn address(sections: &[u8], map: Option<&[u8]>, section: u16, offset: u32) -> Option<u64> {
    let header = usize::from(section).checked_sub(1)? * SECTION;
    let linked = u32_at(sections, header + SECTION_ADDRESS)?.checked_add(offset)?;
    let Some(map) = map else { return Some(linked.into()) };
    // Pairs of addresses, sorted by the first: the range that begins there was moved to the second address, or removed if that is
    // zero.
    let (mut low, mut high) = (0, map.len() / 8);
    while low < high {
        let middle = low.midpoint(high);
        if u32_at(map, middle * 8)? <= linked { low = middle + 1 } else { high = middle }
    }
    let pair = low.checked_sub(1)? * 8;
    let (from, to) = (u32_at(map, pair)?, u32_at(map, pair + 4)?);
    (to != 0).then(|| u64::from(to) + u64::from(linked - from))
}
