//! A payload with its schema: values by name or position.

use crate::fault::{Fault, Reason};
use crate::packed::format::FIELD;
use crate::packed::{FieldRecord, Library};
use crate::schema::{Count, Field, FieldList, Length, Schema};
use crate::size::{self, PointerSize};
use crate::steps::{Step, Steps};
use crate::value::Value;

/// A payload with its schema.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// The schema.
    pub schema: Schema<'a>,
    /// The payload.
    pub payload: &'a [u8],
    /// The size of its pointers.
    pub pointers: PointerSize,
}

/// The values of a payload in its order, those in structures and arrays among them. It ends where the payload or the schema ends, or at what
/// cannot be decoded.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    fields: Fields<'a>,
    /// Fields of a table that are still to come.
    table: &'a [Field<'a>],
    /// A library, and records of its fields that are still to come.
    records: (Library<'a>, &'a [u8]),
    /// What is left of the payload.
    rest: &'a [u8],
    /// Whether all values so far were of fields of a table or library that are neither arrays nor structures, nor their sizes.
    is_flat: bool,
    /// The steps from the first other field on.
    steps: Option<Steps<'a>>,
    fault: Option<Fault>,
}

impl<'a> Fields<'a> {
    /// All values. Each has its field: an array has one field for all its elements.
    #[inline]
    pub fn iter(&self) -> Values<'a> {
        let list = &self.schema.fields;
        let (table, records) = (list.top(), list.records());
        let is_flat = match list {
            FieldList::Table { .. } => true,
            FieldList::TraceLogging(_) => false,
            FieldList::Packed { count, .. } => records.1.len() == usize::from(*count) * FIELD,
        };
        Values { fields: *self, table, records, is_flat, rest: self.payload, steps: None, fault: None }
    }

    /// The first value of the first field with a name. For a name in structures, that of the first one.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|value| value.name == name)
    }

    /// The value at a position among all values.
    pub fn at(&self, position: usize) -> Option<Value<'a>> {
        self.iter().nth(position)
    }

    /// All values with a name: the elements of an array.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = Value<'a>> + use<'a, 'n> {
        self.iter().filter(move |value| value.name == name)
    }

    /// The steps through the payload, which show arrays and structures.
    #[inline]
    pub fn steps(&self) -> Steps<'a> {
        Steps::new(Ok(&self.schema), self.payload, self.pointers)
    }

    /// Whether the payload is decoded to its last byte.
    ///
    /// # Errors
    ///
    /// Where and why it is not. The rest of the payload begins at the fault's offset.
    pub fn check(&self) -> Result<(), Fault> {
        self.steps().try_for_each(|step| step.map(drop))
    }
}

impl<'a> Values<'a> {
    /// Behind the last value: why it was the last, if the payload is not decoded to its last byte.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// The part of the payload behind the last value.
    pub fn rest(&self) -> &'a [u8] {
        self.steps.as_ref().map_or(self.rest, Steps::rest)
    }

    /// The next value, if it is the usual one: of a table's field of fixed size.
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

    /// The next value, if it is a string or another value whose size it tells itself.
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

    /// The next value of a library, if it is of neither an array nor a structure, nor their size.
    #[inline]
    fn packed(&mut self) -> Option<Value<'a>> {
        let (record, behind) = FieldRecord::split(self.records.0, self.records.1)?;
        if !record.is_plain() {
            return None;
        }
        let (in_type, out_type, length) = (record.in_type(), record.out_type(), record.constant_length());
        let (bytes, rest) = match size::fixed(in_type, self.fields.pointers) {
            0 => size::split((in_type, out_type), length.map(Into::into), self.rest, self.fields.pointers, false).ok()?,
            size => self.rest.split_at_checked(size)?,
        };
        let value = Value { name: record.name()?, in_type, out_type, map: record.map(), bytes, is_room: length.is_some() };
        (self.records.1, self.rest) = (behind, rest);
        Some(value)
    }

    /// The end of a payload of which all values were found without steps.
    #[inline]
    fn end(&mut self) -> Option<Value<'a>> {
        if !self.rest.is_empty() {
            self.fault = Some(Reason::Rest.at(self.fields.payload.len() - self.rest.len()));
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

    fn general(&mut self) -> Option<Value<'a>> {
        let (fields, rest) = (&self.fields, self.rest.len());
        let (table, records) = (self.table.len(), self.records.1.len());
        let steps = self.steps.get_or_insert_with(|| {
            let list = fields.schema.fields;
            let visited = list.top().len() - table + (list.records().1.len() - records) / FIELD;
            Steps::from(list, fields.payload, fields.pointers, visited as u32, fields.payload.len() - rest)
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
            None if self.is_flat && self.table.is_empty() && self.records.1.is_empty() => self.end(),
            None => self.unusual(),
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
