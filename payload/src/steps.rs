//! Traversal of a payload, the same for every source of schemas.

use crate::data::number;
use crate::fault::{Fault, FaultKind};
use crate::schema::{Count, Field, FieldList, Length, Schema};
use crate::size::{self, PointerSize, character};
use crate::value::Value;

/// An item of the traversal of a payload. Each field is one of: a [`Value`](Self::Value); a [`Structure`](Self::Structure), its members, and
/// an [`End`](Self::End); an [`Array`](Self::Array), its elements (values or structures), and an [`End`](Self::End). An array of characters is
/// one value, a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step<'a> {
    /// The value of a field, or of an element of the innermost open array.
    Value(Value<'a>),
    /// The start of a structure, which is a field or an element of the innermost open array.
    Structure(Field<'a>),
    /// The start of an array. The second value is its number of elements.
    Array(Field<'a>, u16),
    /// The end of the innermost open structure or array.
    End,
}

/// Maximum number of levels of structures and arrays.
const DEPTH: usize = 32;

/// Maximum number of steps and bytes of names inside structures and arrays, for each byte of schema and payload. The limit is needed because
/// long names are repeated for each element of an array, even if the elements have few or no bytes.
const WORK: usize = 256;

/// Number of most recent counts and lengths that are kept.
const SIZES: usize = 16;

/// An iterator over the steps of a payload. It ends after the first error.
#[derive(Clone, Debug)]
pub struct Steps<'a> {
    fields: FieldList<'a>,
    payload: &'a [u8],
    pointers: PointerSize,
    read: usize,
    /// Position of the next field.
    at: u32,
    depth: usize,
    levels: [Level; DEPTH],
    /// Counts and lengths that were read: the position of the field, and its value.
    sizes: [(u32, u32); SIZES],
    /// Number of counts and lengths read so far, including forgotten ones.
    remembered: usize,
    /// Remaining work: steps and bytes of names inside structures and arrays.
    work: usize,
    /// Position of the field of the latest value.
    current: u32,
    /// The last field that was read, except by `usual`: its position, the field, and the position of the next one.
    last: Option<(u32, Field<'a>, u32)>,
    /// Whether the value of `last` has not been read yet.
    is_waiting: bool,
    fault: Option<Fault>,
    is_done: bool,
}

/// An open structure or array.
#[derive(Clone, Copy, Debug)]
enum Level {
    /// A structure: the number of members left, and the position of the field after the structure, or [`AFTER_MEMBERS`].
    Structure(u16, u32),
    /// An array: the number of elements left, and the position of its field.
    Array(u16, u32),
}

/// The field after a structure is the one after its members.
const AFTER_MEMBERS: u32 = u32::MAX;

impl<'a> Steps<'a> {
    /// The steps of a payload with a schema. If the schema is an error, that error is the only item.
    pub fn new(schema: Result<&Schema<'a>, Fault>, payload: &'a [u8], pointers: PointerSize) -> Self {
        let (fields, fault) = match schema {
            Ok(schema) => (schema.fields, None),
            Err(fault) => (FieldList::TraceLogging(&[]), Some(fault)),
        };
        Self { fault, ..Self::from(fields, payload, pointers, 0, 0) }
    }

    /// The steps from the field at a position on, with the number of payload bytes that were read before it.
    pub(crate) fn from(fields: FieldList<'a>, payload: &'a [u8], pointers: PointerSize, at: u32, read: usize) -> Self {
        Self {
            fields,
            payload,
            pointers,
            read,
            at,
            depth: 0,
            levels: [Level::Structure(0, 0); DEPTH],
            sizes: [(0, 0); SIZES],
            remembered: 0,
            work: WORK.saturating_mul(64 + fields.extent() + payload.len()),
            current: at,
            last: None,
            is_waiting: false,
            fault: None,
            is_done: false,
        }
    }

    /// The part of the payload that has not been decoded.
    pub fn rest(&self) -> &'a [u8] {
        &self.payload[self.read..]
    }

    /// The field of the latest value.
    pub fn field(&self) -> Option<Field<'a>> {
        match self.last {
            Some((at, field, _)) if at == self.current => Some(field),
            _ => self.fields.read(self.current).ok().map(|(field, _)| field),
        }
    }

    /// After an error: the field that caused it, if the value of a field could not be read.
    pub fn missing(&self) -> Option<Field<'a>> {
        self.last.filter(|_| self.is_waiting).map(|(_, field, _)| field)
    }

    /// The next step in the most frequent case: a value of fixed size outside structures and arrays, with a schema that is a table.
    #[inline]
    fn usual(&mut self) -> Option<Step<'a>> {
        if self.depth > 0 {
            return None;
        }
        let field = self.fields.top().get(self.at as usize)?;
        let size = size::fixed(field.in_type, self.pointers);
        if size == 0 || field.count != Count::One || field.is_size {
            return None;
        }
        let bytes = self.payload.get(self.read..self.read + size)?;
        let value = Value::new(field, bytes);
        self.read += size;
        (self.current, self.at) = (self.at, self.at + 1);
        Some(Step::Value(value))
    }

    fn step(&mut self) -> Result<Option<Step<'a>>, FaultKind> {
        let Some(top) = self.depth.checked_sub(1) else {
            return match self.at < self.fields.end() {
                true if self.read == self.payload.len() && self.read_field(self.at)?.0.is_optional => Ok(None),
                true => self.field_step().map(Some),
                false if self.read < self.payload.len() => Err(self.longer()),
                false => Ok(None),
            };
        };
        self.spend(1)?;
        match &mut self.levels[top] {
            Level::Structure(0, back) => {
                if *back != AFTER_MEMBERS {
                    self.at = *back;
                }
                self.depth = top;
                Ok(Some(Step::End))
            }
            Level::Structure(left, _) => {
                *left -= 1;
                self.field_step().map(Some)
            }
            Level::Array(0, _) => {
                self.depth = top;
                Ok(Some(Step::End))
            }
            Level::Array(left, at) => {
                *left -= 1;
                let at = *at;
                let (field, behind) = self.read_field(at)?;
                match field.is_structure() {
                    true => self.structure(field, behind).map(Some),
                    false => self.value(field, at).map(Some),
                }
            }
        }
    }

    /// Why there are bytes after the last field.
    fn longer(&self) -> FaultKind {
        let end = self.fields.end();
        let is_last = |(at, field, behind): &(u32, Field<'_>, u32)| *at < end && *behind >= end && field.is_structure();
        match self.last.filter(is_last) {
            Some((_, Field { members, .. }, _)) if members.count == 0 => FaultKind::Unstated,
            _ => FaultKind::Rest,
        }
    }

    /// The next field.
    fn field_step(&mut self) -> Result<Step<'a>, FaultKind> {
        let at = self.at;
        let (field, behind) = self.read_field(at)?;
        if self.depth > 0 {
            self.spend(field.name.len())?;
        }
        (self.at, self.is_waiting) = (behind, true);
        let step = self.begin(field, at)?;
        self.is_waiting = false;
        Ok(step)
    }

    fn begin(&mut self, field: Field<'a>, at: u32) -> Result<Step<'a>, FaultKind> {
        let count = match field.count {
            Count::One if field.is_structure() => return self.structure(field, self.at),
            Count::One | Count::Custom(_) => return self.value(field, at),
            Count::Constant(_) if field.pointer != 0 && usize::from(field.pointer) != self.pointers.bytes() => 0,
            Count::Constant(count) => count,
            Count::Rest => match size::fixed(field.in_type, self.pointers) {
                // Bytes left after the last element are an error at the end of the traversal.
                size @ 1.. => u16::try_from(self.rest().len() / size).unwrap_or(u16::MAX),
                0 => return Err(FaultKind::Type(field.in_type.0)),
            },
            Count::Field(index) => self.size_of(index)?.try_into().map_err(|_| FaultKind::Payload)?,
            Count::Variable => self.word()?,
        };
        if let Some(size) = character(field.in_type, field.out_type) {
            self.current = at;
            return self.take(field, size * usize::from(count));
        }
        self.push(Level::Array(count, at))?;
        if count == 0 && field.is_structure() && field.members.first.is_none() {
            self.skip(field.members.count)?;
        }
        Ok(Step::Array(field, count))
    }

    fn structure(&mut self, field: Field<'a>, behind: u32) -> Result<Step<'a>, FaultKind> {
        match field.members.first {
            None => {
                self.push(Level::Structure(field.members.count, AFTER_MEMBERS))?;
                self.at = behind;
            }
            Some(first) => {
                self.push(Level::Structure(field.members.count, behind))?;
                self.at = first.into();
            }
        }
        Ok(Step::Structure(field))
    }

    /// Skips the members of a structure in an array without elements.
    fn skip(&mut self, members: u16) -> Result<(), FaultKind> {
        let mut left = u32::from(members);
        while left > 0 {
            self.spend(1)?;
            let (field, behind) = self.fields.read(self.at)?;
            self.at = behind;
            let members = if field.members.first.is_none() { field.members.count } else { 0 };
            left = left - 1 + u32::from(members);
        }
        Ok(())
    }

    fn value(&mut self, field: Field<'a>, at: u32) -> Result<Step<'a>, FaultKind> {
        self.current = at;
        if let Count::Custom(_) = field.count {
            let length = self.word()?;
            return self.take(field, length.into());
        }
        let size = size::fixed(field.in_type, self.pointers);
        if size > 0 {
            let step = self.take(field, size)?;
            if let (Step::Value(value), true) = (&step, field.is_size) {
                self.remember(at, number(value.bytes));
            }
            return Ok(step);
        }
        let length = match field.length {
            Length::Type => None,
            Length::Constant(length) => Some(length.into()),
            Length::Field(index) => Some(self.size_of(index)? as usize),
            Length::Variable => Some(self.word()?.into()),
        };
        let is_last = self.depth == 0 && self.at >= self.fields.end();
        let (bytes, rest) = size::split((field.in_type, field.out_type), length, self.rest(), self.pointers, is_last)?;
        self.read = self.payload.len() - rest.len();
        Ok(Step::Value(Value::new(&field, bytes)))
    }

    /// A value of the next `length` bytes.
    fn take(&mut self, field: Field<'a>, length: usize) -> Result<Step<'a>, FaultKind> {
        let bytes = self.rest().get(..length).ok_or(FaultKind::Payload)?;
        self.read += length;
        Ok(Step::Value(match field.count {
            Count::Custom(_) => Value::custom(&field, bytes),
            _ => Value::new(&field, bytes),
        }))
    }

    /// The next 16 bits.
    fn word(&mut self) -> Result<u16, FaultKind> {
        let word = self.rest().first_chunk().ok_or(FaultKind::Payload)?;
        self.read += word.len();
        Ok(u16::from_le_bytes(*word))
    }

    fn read_field(&mut self, at: u32) -> Result<(Field<'a>, u32), FaultKind> {
        match self.last {
            Some((place, field, behind)) if place == at => Ok((field, behind)),
            _ => {
                let (field, behind) = self.fields.read(at)?;
                self.last = Some((at, field, behind));
                Ok((field, behind))
            }
        }
    }

    /// Moves to the field at a position outside structures. Returns `false` if the payload ends before it.
    pub(crate) fn go_to(&mut self, position: u32) -> bool {
        while self.depth > 0 || self.at < position {
            if !matches!(self.next(), Some(Ok(_))) {
                return false;
            }
        }
        self.at == position
    }

    pub(crate) fn remember(&mut self, at: u32, value: u64) {
        // A new entry overwrites the oldest.
        let place = self.known().position(|(place, _)| *place == at);
        self.remembered += usize::from(place.is_none());
        let place = place.unwrap_or((self.remembered.wrapping_sub(1)) % SIZES);
        self.sizes[place] = (at, value.try_into().unwrap_or(u32::MAX));
    }

    fn known(&self) -> impl Iterator<Item = &(u32, u32)> {
        self.sizes[..self.remembered.min(SIZES)].iter()
    }

    fn size_of(&self, index: u16) -> Result<u32, FaultKind> {
        let found = self.known().find(|(place, _)| *place == u32::from(index));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let was_read = u32::from(index) < self.at && self.fields.read(index.into()).is_ok_and(|(field, _)| field.is_size);
            if self.remembered > SIZES && was_read { FaultKind::Sizes(index) } else { FaultKind::Reference(index) }
        })
    }

    fn push(&mut self, level: Level) -> Result<(), FaultKind> {
        *self.levels.get_mut(self.depth).ok_or(FaultKind::Depth)? = level;
        self.depth += 1;
        Ok(())
    }

    fn spend(&mut self, work: usize) -> Result<(), FaultKind> {
        self.work = self.work.checked_sub(work).ok_or(FaultKind::Work)?;
        Ok(())
    }

    #[inline(never)]
    fn general(&mut self) -> Option<Result<Step<'a>, Fault>> {
        if self.is_done {
            return None;
        }
        if let Some(fault) = self.fault.take() {
            self.is_done = true;
            return Some(Err(fault));
        }
        let before = self.read;
        match self.step() {
            Ok(Some(step)) => Some(Ok(step)),
            Ok(None) => {
                self.is_done = true;
                None
            }
            Err(reason) => {
                (self.is_done, self.read) = (true, before);
                // Without fields, `usual` returns nothing.
                self.fields = FieldList::TraceLogging(&[]);
                Some(Err(reason.at(before)))
            }
        }
    }
}

impl<'a> Iterator for Steps<'a> {
    type Item = Result<Step<'a>, Fault>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.usual() {
            Some(step) => Some(Ok(step)),
            None => self.general(),
        }
    }
}
