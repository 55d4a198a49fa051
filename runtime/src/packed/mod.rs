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
mod registry;
mod structure;

pub(crate) use declared::{Located, never_fits};
pub use declared::{Shape, Wanted};
pub use error::{Error, Problem};
pub use layout::{Element, Layout, Member, Missing, Type, Values};
pub use registry::{Kernel, Seen, Update, Witness};
pub use structure::{Selection, Structure, Target};

use format::{HEADER, OFFSETS, Record, Section};

/// A table of layouts.
#[derive(Clone, Copy)]
pub struct Layouts<'a> {
    bytes: &'a [u8],
}

impl<'a> Layouts<'a> {
    /// Opens a table, and checks all of it: the header, all indices, all orders, and that no structure contains itself. Takes about a
    /// millisecond, without allocation. A crafted table can have structures that overlap in many levels, so printing a whole view of it
    /// can take very long; reading its members does not.
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
        nth(self.section_bytes::<R>(), index)
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
    fn text(&self, name: u16) -> &'a str {
        core::str::from_utf8(self.text_bytes(name)).unwrap_or_default()
    }

    fn text_bytes(&self, name: u16) -> &'a [u8] {
        let [start, end] = self.section(Section::Text);
        let begin = |name: usize| self.record::<format::Name>(name).map(|name| start.saturating_add(name.start as usize));
        let Some(first) = begin(name.into()) else { return &[] };
        self.bytes.get(first..begin(usize::from(name) + 1).unwrap_or(end)).unwrap_or_default()
    }

    /// The name of a text.
    fn name(&self, text: &str) -> Option<u16> {
        let count = self.count::<format::Name>().min(format::NONE.into());
        let at = partition(0, count, |at| self.text_bytes(at as u16) < text.as_bytes());
        (at < count && self.text_bytes(at as u16) == text.as_bytes()).then_some(at as u16)
    }
}

impl core::fmt::Debug for Layouts<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (structures, length) = (self.count::<format::Structure>(), self.bytes.len());
        f.debug_struct("Layouts").field("structures", &structures).field("bytes", &length).finish_non_exhaustive()
    }
}

/// The record with an index, in the bytes of a section.
#[inline]
fn nth<R: Record>(section: &[u8], index: usize) -> Option<R> {
    R::read(section.get(index.checked_mul(R::SIZE)?..)?)
}

/// The first index for which a condition is false, if it is true for all before and for none after.
fn partition(mut low: usize, mut high: usize, is_before: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
