//! Validation of a type stream before `pdb2` parses it.
//!
//! `pdb2` 0.10 assumes valid files. In debug builds it panics on a number in an unknown form; in all builds on a pointer of an
//! unknown kind. A list of members within a list of members makes it recurse until the stack overflows, and it allocates as many
//! entries as a header states. So each record is validated first, and invalid records are never passed to it.

use super::Error;
use super::leaf::{self, number};
use crate::little_endian::{u16_at, u32_at};
use std::collections::BTreeSet;

/// Index of the first record; lower ones denote base types.
pub(super) const FIRST_INDEX: u32 = 0x1000;

/// The version of Visual C++ 7, the first with zero-terminated names.
const OLDEST: u32 = 19_990_903;

const HEADER: u32 = 56;

/// Result of validating a type stream.
#[derive(Default)]
pub(super) struct Survey {
    /// Number of records.
    pub count: u32,
    /// Size of the records, in bytes.
    pub bytes: usize,
    /// Indices of the records that must not be parsed.
    pub malformed: BTreeSet<u32>,
    /// Size of the first pointer of 4 or 8 bytes.
    pub pointer_size: Option<u64>,
}

/// Validates a type stream. An empty one has no records.
pub(super) fn survey(stream: &[u8]) -> Result<Survey, Error> {
    let mut survey = Survey::default();
    if stream.is_empty() {
        return Ok(survey);
    }
    let header = |offset| u32_at(stream, offset).ok_or_else(|| Error::damaged("the header of its types is truncated"));
    let (version, header_size, first, end, bytes) = (header(0)?, header(4)?, header(8)?, header(12)?, header(16)?);
    if version < OLDEST {
        return Err(Error::Unsupported { what: format!("types of version {version}, from before Visual C++ 7") });
    }
    if !(HEADER..=1024).contains(&header_size) || first != FIRST_INDEX {
        return Err(Error::damaged("the header of its types is invalid"));
    }
    let records = stream.get(header_size as usize..).and_then(|rest| rest.get(..bytes as usize));
    let mut rest = records.ok_or_else(|| Error::damaged("its types are truncated"))?;
    survey.bytes = rest.len();
    while let Some(length) = u16_at(rest, 0) {
        let index = FIRST_INDEX + survey.count;
        let record = rest.get(2..2 + usize::from(length)).filter(|record| record.len() >= 2);
        let record = record.ok_or_else(|| Error::damaged(format!("type {index:#x} is truncated")))?;
        let mut cursor = Cursor { rest: record, pointer_size: &mut survey.pointer_size };
        if cursor.record().is_none() {
            survey.malformed.insert(index);
        }
        survey.count += 1;
        rest = &rest[2 + record.len()..];
    }
    if !rest.is_empty() || end.checked_sub(first) != Some(survey.count) {
        return Err(Error::damaged(format!("it has {} types, but states the end {end:#x}", survey.count)));
    }
    Ok(survey)
}

struct Cursor<'a> {
    rest: &'a [u8],
    pointer_size: &'a mut Option<u64>,
}

/// These functions return `None` if the record is truncated or does not have the expected form.
impl Cursor<'_> {
    fn record(&mut self) -> Option<()> {
        let leaf = self.u16()?;
        match leaf {
            leaf::CLASS | leaf::STRUCTURE | leaf::INTERFACE => {
                self.skip(2)?;
                let properties = self.u16()?;
                self.skip(12)?;
                self.sized(properties.into())
            }
            leaf::CLASS_2 | leaf::STRUCTURE_2 | leaf::INTERFACE_2 => {
                let properties = self.u32()?;
                self.skip(14)?;
                self.sized(properties)
            }
            leaf::UNION => {
                self.skip(2)?;
                let properties = self.u16()?;
                self.skip(4)?;
                self.sized(properties.into())
            }
            leaf::UNION_2 => {
                let properties = self.u32()?;
                self.skip(6)?;
                self.sized(properties)
            }
            leaf::ENUM => {
                self.skip(2)?;
                let properties = self.u16()?;
                self.skip(8)?;
                self.names(properties.into())
            }
            // `pdb2` would treat an array with a name as multidimensional.
            leaf::ARRAY => {
                self.skip(8)?;
                self.number(false)?;
                (self.u8()? == 0).then_some(())
            }
            leaf::POINTER => {
                self.skip(4)?;
                let attributes = self.u32()?;
                let (kind, mode) = (attributes & 0x1F, attributes >> 5 & 7);
                self.pointer(match kind {
                    0xA => Some(4),
                    0xC => Some(8),
                    _ => None,
                });
                (kind <= 0xC && mode <= 4).then_some(())
            }
            leaf::FIELD_LIST => {
                while !self.rest.is_empty() {
                    self.member()?;
                    self.padding()?;
                }
                Some(())
            }
            // All other records have fixed members, or are not parsed.
            _ => Some(()),
        }
    }

    /// The end of a class, structure or union record.
    fn sized(&mut self, properties: u32) -> Option<()> {
        self.number(false)?;
        self.names(properties)
    }

    fn names(&mut self, properties: u32) -> Option<()> {
        const HAS_UNIQUE_NAME: u32 = 0x200;
        self.name()?;
        if properties & HAS_UNIQUE_NAME == 0 { Some(()) } else { self.name() }
    }

    fn member(&mut self) -> Option<()> {
        let leaf = self.u16()?;
        let attributes = self.u16()?;
        match leaf {
            leaf::MEMBER => {
                let ty = self.u32()?;
                self.pointer(match ty {
                    0x400..0x500 => Some(4),
                    0x600..0x700 => Some(8),
                    _ => None,
                });
                self.number(false)?;
                self.name()
            }
            leaf::ENUMERATE => {
                self.number(true)?;
                self.name()
            }
            leaf::STATIC_MEMBER | leaf::METHOD | leaf::NESTED | leaf::NESTED_EX => {
                self.skip(4)?;
                self.name()
            }
            leaf::ONE_METHOD => {
                let introduces_virtual = matches!(attributes >> 2 & 7, 4 | 6);
                self.skip(if introduces_virtual { 8 } else { 4 })?;
                self.name()
            }
            leaf::BASE_CLASS | leaf::BASE_INTERFACE => {
                self.skip(4)?;
                self.number(false)
            }
            leaf::VIRTUAL_BASE | leaf::INDIRECT_VIRTUAL_BASE => {
                self.skip(8)?;
                self.number(false)?;
                self.number(false)
            }
            leaf::FUNCTION_TABLE | leaf::INDEX => self.skip(4),
            _ => None,
        }
    }

    /// Bytes from 0xF1 to 0xFF state the distance to the next member.
    fn padding(&mut self) -> Option<()> {
        while let Some(&byte @ 0xF0..) = self.rest.first() {
            self.skip(usize::from(byte & 0xF).max(1))?;
        }
        Some(())
    }

    fn pointer(&mut self, size: Option<u64>) {
        *self.pointer_size = self.pointer_size.or(size);
    }

    fn number(&mut self, signed: bool) -> Option<()> {
        match self.u16()? {
            ..number::FIRST => Some(()),
            number::CHAR => self.skip(1),
            number::UNSIGNED_SHORT => self.skip(2),
            number::UNSIGNED_LONG => self.skip(4),
            number::UNSIGNED_QUAD => self.skip(8),
            number::SHORT if signed => self.skip(2),
            number::LONG if signed => self.skip(4),
            number::QUAD if signed => self.skip(8),
            _ => None,
        }
    }

    fn name(&mut self) -> Option<()> {
        let end = self.rest.iter().position(|&byte| byte == 0)?;
        self.skip(end + 1)
    }

    fn u8(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn u16(&mut self) -> Option<u16> {
        let value = u16_at(self.rest, 0)?;
        self.skip(2)?;
        Some(value)
    }

    fn u32(&mut self) -> Option<u32> {
        let value = u32_at(self.rest, 0)?;
        self.skip(4)?;
        Some(value)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }
}
