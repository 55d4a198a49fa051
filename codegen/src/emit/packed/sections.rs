//! The sections of a table while it is written.

use etw_layouts_runtime::packed::format::{HEADER, MAGIC, NONE, Name, Record, Section, Text, VERSION};
use std::collections::BTreeMap;

/// The bytes of each section, and the number of each name.
#[derive(Default)]
pub struct Sections {
    bytes: BTreeMap<usize, Vec<u8>>,
    names: BTreeMap<String, u16>,
}

/// A number of parts, if the format can express it.
pub fn number<T: TryFrom<usize>>(what: &str, count: usize) -> Result<T, String> {
    T::try_from(count).map_err(|_| format!("too many {what} for a table of layouts: {count}; split the specs"))
}

impl Sections {
    /// Empty sections, with the names of others in order.
    pub fn with_names(others: Self) -> Result<Self, String> {
        let mut new = Self::default();
        let mut start = 0;
        for (at, name) in others.names.into_keys().enumerate() {
            new.add(&Name { start: number("bytes of names", start)? })?;
            name.bytes().try_for_each(|byte| new.add(&Text { byte }).map(|_| ()))?;
            start += name.len();
            new.names.insert(name, number("names", at)?);
        }
        Ok(new)
    }

    /// Adds a record; returns its index.
    pub fn add<R: Record>(&mut self, record: &R) -> Result<u32, String> {
        let index = self.count::<R>()?;
        record.write(self.bytes.entry(R::SECTION as usize).or_default());
        Ok(index)
    }

    /// The number of records of a section.
    pub fn count<R: Record>(&self) -> Result<u32, String> {
        let length = self.bytes.get(&(R::SECTION as usize)).map_or(0, Vec::len);
        number("records", length / R::SIZE)
    }

    /// The number of a name; any number while names are collected.
    pub fn name(&mut self, text: &str) -> u16 {
        if let Some(number) = self.names.get(text) {
            return *number;
        }
        self.names.insert(text.to_owned(), 0);
        0
    }

    /// The header and all sections.
    pub fn finish(mut self) -> Result<Vec<u8>, String> {
        // The last number stands for none.
        let _: u16 = number("names", self.names.len() + usize::from(u16::MAX - NONE))?;
        let sections: Vec<_> = (0..Section::ALL.len()).map(|section| self.bytes.remove(&section).unwrap_or_default()).collect();
        let length = HEADER + sections.iter().map(Vec::len).sum::<usize>();
        let mut out = Vec::with_capacity(length);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(number::<u32>("bytes", length)?.to_le_bytes());
        let mut end = HEADER;
        for length in [0].into_iter().chain(sections.iter().map(Vec::len)) {
            end += length;
            out.extend(number::<u32>("bytes", end)?.to_le_bytes());
        }
        sections.iter().for_each(|section| out.extend(section));
        Ok(out)
    }
}
