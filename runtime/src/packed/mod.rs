//! All layouts as one table of bytes, read in place. A program opens the table of a newer release without being compiled again.
//!
//! [`Layouts::from_bytes`] opens a file that `etw export layouts` wrote, and checks all of it; the crate `etw-layouts` contains such a
//! table. [`Structure::select`] chooses the layout for a build, with its confidence. [`Structure::in_table`] finds a structure of the
//! crate in another table.
//!
//! A [`Token`](crate::Token) denotes a member by structure and name. [`Layout::resolve`] finds it in a table, wherever that table has it,
//! and reports a member that is absent or has another type.
//!
//! The format is described in [`mod@format`].

mod check;
mod declared;
mod error;
pub mod format;
mod layout;
mod member;
mod misdeclared;
mod registry;
mod structure;

pub use declared::{Shape, Wanted};
pub use error::{Error, Problem};
pub use layout::{Element, Layout, Type, Values};
pub(crate) use member::Located;
pub use member::{Member, Missing};
pub(crate) use misdeclared::never_fits;
pub use registry::{ExaminedBuild, FactsFile, Revision, Update};
pub use structure::{Selection, Structure, Target};

use format::{HEADER, NONE, Name, OFFSETS, Record, Section, Text};

/// A table of layouts.
#[derive(Clone, Copy)]
pub struct Layouts<'a> {
    bytes: &'a [u8],
}

impl<'a> Layouts<'a> {
    /// Opens a table, and checks all of it: the header, all indices, all orders, and that no structure contains itself. Takes about a
    /// millisecond, without allocation.
    ///
    /// # Errors
    ///
    /// The bytes are not a table, or one of another version, or corrupt. The error names the first problem with its place.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let new = Self { bytes };
        check::check(new)?;
        Ok(new)
    }

    /// A table that was checked before. Wrong bytes give wrong or missing answers, but no panic.
    #[doc(hidden)]
    pub const fn trusted(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The bytes of the table.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The record with an index.
    #[inline]
    fn record<R: Record>(&self, index: usize) -> Option<R> {
        R::read(self.section_bytes::<R>().get(index.checked_mul(R::SIZE)?..)?)
    }

    /// Records from an index on.
    fn records<R: Record>(&self, start: u32, count: usize) -> impl DoubleEndedIterator<Item = R> + Clone + use<'a, R> {
        let bytes = self.section_bytes::<R>().get((start as usize).saturating_mul(R::SIZE)..).unwrap_or_default();
        bytes.chunks_exact(R::SIZE).take(count).filter_map(R::read)
    }

    fn all<R: Record>(&self) -> impl Iterator<Item = R> + Clone + use<'a, R> {
        self.section_bytes::<R>().chunks_exact(R::SIZE).filter_map(R::read)
    }

    fn count<R: Record>(&self) -> usize {
        self.section_bytes::<R>().len() / R::SIZE
    }

    #[inline]
    const fn section_bytes<R: Record>(&self) -> &'a [u8] {
        let [start, end] = self.section(R::SECTION);
        if start > end {
            return &[];
        }
        match self.bytes.split_at_checked(end) {
            Some((bytes, _)) => bytes.split_at(start).1,
            None => &[],
        }
    }

    /// Where a section begins and ends, in bytes.
    #[inline]
    const fn section(&self, section: Section) -> [usize; 2] {
        [self.start(section as usize), self.start(section as usize + 1)]
    }

    /// Where the section with an index begins, in bytes.
    #[inline]
    const fn start(&self, index: usize) -> usize {
        let Some((header, _)) = self.bytes.split_at_checked(HEADER) else { return 0 };
        match header.split_at(OFFSETS + 4 * index).1.first_chunk() {
            Some(bytes) => u32::from_le_bytes(*bytes) as usize,
            None => 0,
        }
    }

    /// The text of a name.
    const fn text(&self, name: u16) -> &'a str {
        match core::str::from_utf8(self.text_bytes(name)) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    const fn text_bytes(&self, name: u16) -> &'a [u8] {
        text_in(self.section_bytes::<Name>(), self.section_bytes::<Text>(), name as usize)
    }

    /// The name of a text. Without iterators and closures, so that constants can search for it.
    const fn name(&self, text: &str) -> Option<u16> {
        let (names, texts, wanted) = (self.section_bytes::<Name>(), self.section_bytes::<Text>(), text.as_bytes());
        let (mut low, mut high) = (0, names.len() / Name::SIZE);
        // Numbers of bytes that the wanted text shares with the names before and after the range, and so with all names within it.
        let (mut before, mut after) = (0, 0);
        while low < high {
            let middle = low + (high - low) / 2;
            let text = text_in(names, texts, middle);
            let mut i = if before < after { before } else { after };
            while i < text.len() && i < wanted.len() && text[i] == wanted[i] {
                i += 1;
            }
            if i == text.len() && i == wanted.len() {
                return if middle < NONE as usize { Some(middle as u16) } else { None };
            }
            if i >= text.len() || i < wanted.len() && text[i] < wanted[i] {
                (low, before) = (middle + 1, i);
            } else {
                (high, after) = (middle, i);
            }
        }
        None
    }

    /// The structure with a name, and its index.
    const fn find_structure(&self, name: &str) -> Option<(usize, format::Structure)> {
        let Some(name) = self.name(name) else { return None };
        let all = self.section_bytes::<format::Structure>();
        let (mut low, mut high) = (0, all.len() / format::Structure::SIZE);
        while low < high {
            let middle = low + (high - low) / 2;
            match format::Structure::nth(all, middle) {
                Some(found) if found.name == name => return Some((middle, found)),
                Some(found) if found.name < name => low = middle + 1,
                _ => high = middle,
            }
        }
        None
    }
}

/// The text of the name with an index, in the bytes of both sections.
#[inline]
const fn text_in<'a>(names: &[u8], texts: &'a [u8], index: usize) -> &'a [u8] {
    let Some(Name { start }) = Name::nth(names, index) else { return &[] };
    let end = match Name::nth(names, index + 1) {
        Some(next) => next.start as usize,
        None => texts.len(),
    };
    if start as usize > end {
        return &[];
    }
    match texts.split_at_checked(end) {
        Some((texts, _)) => texts.split_at(start as usize).1,
        None => &[],
    }
}

impl core::fmt::Debug for Layouts<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (structures, length) = (self.count::<format::Structure>(), self.bytes.len());
        f.debug_struct("Layouts").field("structures", &structures).field("bytes", &length).finish_non_exhaustive()
    }
}

/// The first index for which a condition is false, if it is true for all before and for none after.
fn partition(mut low: usize, mut high: usize, is_before: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
