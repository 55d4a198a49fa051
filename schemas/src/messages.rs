//! Message tables (RT_MESSAGETABLE) of PE files.

use crate::schemas::SchemaError;
use std::collections::HashMap;

/// Messages by identifier, from one or more tables.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    tables: Vec<Vec<u8>>,
    /// Table, offset and length of the text, and its encoding.
    entries: HashMap<u32, Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    table: usize,
    at: usize,
    length: usize,
    encoding: u16,
}

/// Bytes before the text of a message: its own length and flags.
const HEADER: usize = 4;

const UTF16: u16 = 1;

impl Messages {
    /// Adds a table. A message with an existing identifier is ignored.
    ///
    /// # Errors
    ///
    /// The table is truncated; the messages before the end are added. No input causes a panic.
    pub fn add(&mut self, table: Vec<u8>) -> Result<(), SchemaError> {
        let result = self.index(&table);
        self.tables.push(table);
        result
    }

    /// The text of a message, without the line break at its end.
    pub fn get(&self, id: u32) -> Option<String> {
        let Entry { table, at, length, encoding } = *self.entries.get(&id)?;
        let bytes = self.tables.get(table)?.get(at..at.checked_add(length)?)?;
        let text: String = if encoding & UTF16 != 0 {
            let units = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        } else {
            match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                // The code page is unknown, because the table does not state it.
                Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
            }
        };
        let text = text.trim_end_matches('\0');
        Some(text.strip_suffix("\r\n").or(text.strip_suffix('\n')).unwrap_or(text).to_owned())
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Reads the list of blocks. Each block has its first and last identifier, and the offset of its messages.
    fn index(&mut self, table: &[u8]) -> Result<(), SchemaError> {
        let word = |at: usize| {
            let bytes = at.checked_add(4).and_then(|end| table.get(at..end)).and_then(|bytes| bytes.first_chunk());
            let value = bytes.map(|bytes| u32::from_le_bytes(*bytes));
            value.ok_or_else(|| SchemaError::offset(at, "truncated message table; get the complete file"))
        };
        // Messages do not overlap, so the size of the table limits their number.
        let mut left = table.len() / HEADER;
        for block in 0..usize::try_from(word(0)?).unwrap_or(usize::MAX).min(table.len() / 12) {
            let start = 4 + 12 * block;
            let (low, high) = (word(start)?, word(start + 4)?);
            let mut at = usize::try_from(word(start + 8)?).unwrap_or(usize::MAX);
            for id in low..=high {
                left = left
                    .checked_sub(1)
                    .ok_or_else(|| SchemaError::offset(start, "corrupt message table: its blocks overlap; get the file again"))?;
                let header = word(at)?;
                let (size, encoding) = (usize::from(header as u16), (header >> 16) as u16);
                let length = size.checked_sub(HEADER).ok_or_else(|| {
                    SchemaError::offset(at, "corrupt message table: a message is shorter than its header; get the file again")
                })?;
                let entry = Entry { table: self.tables.len(), at: at + HEADER, length, encoding };
                self.entries.entry(id).or_insert(entry);
                at = at.saturating_add(size);
            }
        }
        Ok(())
    }
}
