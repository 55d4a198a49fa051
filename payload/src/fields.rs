//! A payload with its schema: values by name or position.

use crate::fault::{Fault, Reason};
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
    /// What is left of the payload.
    rest: &'a [u8],
    /// Whether all values so far were of fields of a table that are neither arrays nor structures, nor their sizes.
    is_flat: bool,
    /// The steps from the first other field on.
    steps: Option<Steps<'a>>,
    fault: Option<Fault>,
}

impl<'a> Fields<'a> {
    /// All values. Each has its field: an array has one field for all its elements.
    #[inline]
    pub fn iter(&self) -> Values<'a> {
        let is_flat = matches!(self.schema.fields, FieldList::Table { .. });
        Values { fields: *self, table: self.schema.fields.top(), is_flat, rest: self.payload, steps: None, fault: None }
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
        let (bytes, rest) = size::split(field, length, self.rest, self.fields.pointers, false).ok()?;
        (self.table, self.rest) = (behind, rest);
        Some(Value::new(field, bytes))
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
        match self.variable() {
            Some(value) => Some(value),
            None => self.general(),
        }
    }

    fn general(&mut self) -> Option<Value<'a>> {
        let (fields, left, rest) = (&self.fields, self.table.len(), self.rest.len());
        let steps = self.steps.get_or_insert_with(|| {
            let list = fields.schema.fields;
            Steps::from(list, fields.payload, fields.pointers, (list.top().len() - left) as u32, fields.payload.len() - rest)
        });
        (self.table, self.is_flat) = (&[], false);
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
            None if self.is_flat && self.table.is_empty() => self.end(),
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
