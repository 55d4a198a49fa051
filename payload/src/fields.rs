//! Values of a payload by name or position.

use crate::data::number;
use crate::fault::{Fault, FaultKind};
use crate::name::FieldName;
use crate::packed::format::FIELD;
use crate::packed::{FieldRecord, Library};
use crate::plan::{Cursor, Part};
use crate::schema::{Count, Field, FieldList, Length, Schema};
use crate::size::{self, PointerSize, character};
use crate::steps::{Step, Steps};
use crate::types::InType;
use crate::value::Value;

/// A payload with its schema.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// The schema.
    pub schema: Schema<'a>,
    /// The payload.
    pub payload: &'a [u8],
    /// The size of pointers in the payload.
    pub pointers: PointerSize,
}

/// An iterator over the values of a payload, in order, including those in structures and arrays. It ends at the end of the payload or of the
/// schema, or at the first error.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    fields: Fields<'a>,
    /// The remaining fields of a table.
    table: &'a [Field<'a>],
    /// A library, and the remaining records of fields in it.
    records: (Library<'a>, &'a [u8]),
    /// The next element of the array of the first record, without its bytes, and the number of elements that remain; 0 outside arrays.
    elements: (Value<'a>, u16),
    /// Counts and lengths that were read from records: the index of the field, and its value.
    sizes: [(u32, u32); SIZES],
    sizes_count: usize,
    /// The remaining payload.
    rest: &'a [u8],
    /// Whether the schema is a table or in a library, and all values before were read without `steps`.
    is_flat: bool,
    /// The steps from the first field on that no faster method can read.
    steps: Option<Steps<'a>>,
    fault: Option<Fault>,
}

/// Maximum number of counts and lengths that are kept without `steps`.
const SIZES: usize = 4;

impl<'a> Schema<'a> {
    /// Combines this schema with a payload. `pointers` is the pointer size of the process or kernel that wrote the event; the event header
    /// states it.
    #[inline]
    pub fn decode(&self, payload: &'a [u8], pointers: PointerSize) -> Fields<'a> {
        Fields { schema: *self, payload, pointers }
    }
}

impl<'a> Fields<'a> {
    /// An iterator over all values. The elements of an array are separate values with the same name.
    #[inline]
    pub fn iter(&self) -> Values<'a> {
        let list = &self.schema.fields;
        let (table, records) = (list.top(), list.records());
        let is_flat = match list {
            FieldList::Table { .. } => true,
            FieldList::TraceLogging(_) => false,
            FieldList::Packed { count, .. } => records.1.len() == usize::from(*count) * FIELD,
        };
        let elements = (Value::new(&Field::new("", InType::NULL), &[]), 0);
        let sizes = [(0, 0); SIZES];
        Values {
            fields: *self,
            table,
            records,
            elements,
            sizes,
            sizes_count: 0,
            is_flat,
            rest: self.payload,
            steps: None,
            fault: None,
        }
    }

    /// The first value of the first field with this name, which can be a member of a structure.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        let mut values = self.iter();
        // Most fields that are asked for by name are among the first ones of a table, which have fixed sizes.
        while let Some(value) = values.usual() {
            if value.name() == name {
                return Some(value);
            }
        }
        let (mut slots, mut cursor) = (self.schema.fields.slots(self.pointers), Cursor::new(self.payload, self.pointers));
        for (field, slot) in slots.by_ref() {
            let bytes = match cursor.next(&slot) {
                Some(Part::Value(bytes)) => bytes,
                Some(Part::Array([], _)) => continue,
                Some(Part::Array(bytes, size)) => &bytes[..size.min(bytes.len())],
                Some(Part::End) | None => return self.iter().find(|value| value.name() == name),
            };
            if field.name == name {
                return Some(Value { name: FieldName::Text(field.name), map: field.map, ..slot.value(bytes) });
            }
        }
        if slots.is_done() { None } else { self.iter().find(|value| value.name() == name) }
    }

    /// The value at a position among all values.
    pub fn at(&self, position: usize) -> Option<Value<'a>> {
        self.iter().nth(position)
    }

    /// All values with this name, such as the elements of an array.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = Value<'a>> + use<'a, 'n> {
        self.iter().filter(move |value| value.name() == name)
    }

    /// An iterator over the values of the payload, and over the starts and ends of its structures and arrays.
    #[inline]
    pub fn steps(&self) -> Steps<'a> {
        Steps::new(Ok(&self.schema), self.payload, self.pointers)
    }

    /// Checks that the schema describes the payload to its last byte.
    ///
    /// # Errors
    ///
    /// The payload is truncated, too long or invalid; the error has the cause, and the offset of the first undecoded byte.
    pub fn check(&self) -> Result<(), Fault> {
        let mut values = self.iter();
        values.by_ref().for_each(drop);
        values.fault.map_or(Ok(()), Err)
    }
}

impl<'a> Values<'a> {
    /// After the last value: the error that ended the iteration, if any.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// The part of the payload after the latest value.
    pub fn rest(&self) -> &'a [u8] {
        self.steps.as_ref().map_or(self.rest, Steps::rest)
    }

    /// The next value in the most frequent case: a field of fixed size in a table.
    #[inline(always)]
    fn usual(&mut self) -> Option<Value<'a>> {
        let (field, behind) = self.table.split_first()?;
        let size = size::fixed(field.in_type, self.fields.pointers);
        if size == 0 || field.is_size || field.count != Count::One {
            return None;
        }
        let (bytes, rest) = self.rest.split_at_checked(size)?;
        (self.table, self.rest) = (behind, rest);
        Some(Value::new(field, bytes))
    }

    /// The next value, if its bytes determine its size, like those of a string, or if the field has a constant length.
    #[inline]
    fn variable(&mut self) -> Option<Value<'a>> {
        let (field, behind) = self.table.split_first()?;
        let length = match field.length {
            Length::Type => None,
            Length::Constant(length) => Some(length.into()),
            _ => return None,
        };
        if field.count != Count::One {
            return None;
        }
        let (bytes, rest) = size::split((field.in_type, field.out_type), length, self.rest, self.fields.pointers, false).ok()?;
        (self.table, self.rest) = (behind, rest);
        Some(Value::new(field, bytes))
    }

    /// The next value in the most frequent case of a library: a field of fixed size.
    #[inline(always)]
    fn packed_usual(&mut self) -> Option<Value<'a>> {
        let (record, behind) = FieldRecord::split(self.records.0, self.records.1)?;
        let in_type = record.in_type();
        let size = size::fixed(in_type, self.fields.pointers);
        if size == 0 || !record.is_plain() {
            return None;
        }
        let (bytes, rest) = self.rest.split_at_checked(size)?;
        (self.records.1, self.rest) = (behind, rest);
        Some(record.value(bytes))
    }

    /// The next value of a library, if it is outside structures. A plain field of fixed size is [`Self::packed_usual`].
    #[inline]
    fn packed(&mut self) -> Option<Value<'a>> {
        let (record, behind) = FieldRecord::split(self.records.0, self.records.1)?;
        if !record.is_plain() {
            return self.sized(record, behind);
        }
        let length = if let Length::Constant(length) = record.length() { Some(length.into()) } else { None };
        let types = (record.in_type(), record.out_type());
        let (bytes, rest) = size::split(types, length, self.rest, self.fields.pointers, false).ok()?;
        (self.records.1, self.rest) = (behind, rest);
        Some(record.value(bytes))
    }

    /// The next element of an array. The payload contains all elements.
    #[inline]
    fn element(&mut self) -> Option<Value<'a>> {
        let (value, left) = self.elements;
        let (bytes, rest) = self.rest.split_at_checked(size::fixed(value.in_type, self.fields.pointers))?;
        (self.rest, self.elements.1) = (rest, left - 1);
        if left == 1 {
            self.records.1 = self.records.1.get(FIELD..).unwrap_or_default();
        }
        Some(Value { bytes, ..value })
    }

    /// The next value: the first element of an array, the count or length of a later field, or a value with its length in an earlier field.
    #[inline(never)]
    fn sized(&mut self, record: FieldRecord<'a>, behind: &'a [u8]) -> Option<Value<'a>> {
        let size = size::fixed(record.in_type(), self.fields.pointers);
        let count = match record.count() {
            Count::One => return self.one_sized(record, size, behind),
            Count::Constant(count) => count,
            Count::Field(index) => self.size_of(index)?.try_into().ok()?,
            _ => return None,
        };
        if let Some(size) = character(record.in_type(), record.out_type()) {
            let (bytes, rest) = self.rest.split_at_checked(size * usize::from(count))?;
            (self.records.1, self.rest) = (behind, rest);
            return Some(record.value(bytes));
        }
        if size == 0 || count == 0 || record.is_size() || self.rest.len() < size * usize::from(count) {
            return None;
        }
        self.elements = (record.value(&[]), count);
        self.element()
    }

    fn one_sized(&mut self, record: FieldRecord<'a>, size: usize, behind: &'a [u8]) -> Option<Value<'a>> {
        let (bytes, rest) = match (size, record.length()) {
            (1.., _) => self.rest.split_at_checked(size)?,
            (0, Length::Field(index)) => {
                let length = self.size_of(index)? as usize;
                size::split((record.in_type(), record.out_type()), Some(length), self.rest, self.fields.pointers, false).ok()?
            }
            _ => return None,
        };
        if record.is_size() && size > 0 {
            *self.sizes.get_mut(self.sizes_count)? = (self.index(), u32::try_from(number(bytes)).unwrap_or(u32::MAX));
            self.sizes_count += 1;
        }
        (self.records.1, self.rest) = (behind, rest);
        Some(record.value(bytes))
    }

    /// The index of the first record.
    fn index(&self) -> u32 {
        ((self.fields.schema.fields.records().1.len() - self.records.1.len()) / FIELD) as u32
    }

    fn size_of(&self, index: u16) -> Option<u32> {
        let known = self.sizes.get(..self.sizes_count)?;
        known.iter().find(|(place, _)| *place == u32::from(index)).map(|(_, value)| *value)
    }

    /// Ends a payload that was read without [`Steps`].
    #[inline]
    fn end(&mut self) -> Option<Value<'a>> {
        if !self.rest.is_empty() {
            self.fault = Some(FaultKind::Rest.at(self.fields.payload.len() - self.rest.len()));
        }
        None
    }

    #[inline(never)]
    fn unusual(&mut self) -> Option<Value<'a>> {
        match self.packed() {
            Some(value) => Some(value),
            None if self.is_flat && self.table.is_empty() && self.records.1.is_empty() => self.end(),
            None => match self.variable() {
                Some(value) => Some(value),
                None => self.general(),
            },
        }
    }

    #[inline(never)]
    fn general(&mut self) -> Option<Value<'a>> {
        let (fields, rest) = (&self.fields, self.rest.len());
        let (table, records) = (self.table.len(), self.records.1.len());
        let sizes = self.sizes.get(..self.sizes_count).unwrap_or_default();
        let steps = self.steps.get_or_insert_with(|| {
            let list = fields.schema.fields;
            let visited = list.top().len() - table + (list.records().1.len() - records) / FIELD;
            let mut steps = Steps::from(list, fields.payload, fields.pointers, visited as u32, fields.payload.len() - rest);
            sizes.iter().for_each(|(place, value)| steps.remember(*place, (*value).into()));
            steps
        });
        (self.table, self.records.1, self.is_flat) = (&[], &[], false);
        loop {
            match steps.next()? {
                Ok(Step::Value(value)) => return Some(value),
                Ok(_) => {}
                Err(fault) => self.fault = Some(fault),
            }
        }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Value<'a>> {
        match self.usual() {
            Some(value) => Some(value),
            None if self.elements.1 > 0 => self.element(),
            None => match self.packed_usual() {
                Some(value) => Some(value),
                None if self.is_flat && self.table.is_empty() && self.records.1.is_empty() => self.end(),
                None => self.unusual(),
            },
        }
    }
}

impl<'a> IntoIterator for &Fields<'a> {
    type Item = Value<'a>;
    type IntoIter = Values<'a>;

    #[inline]
    fn into_iter(self) -> Values<'a> {
        self.iter()
    }
}
