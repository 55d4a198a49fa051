//! Values of a payload by name or position.

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
    /// The remaining payload.
    rest: &'a [u8],
    /// Whether the schema is a table, and no array, structure, count or length has been reached in it.
    is_flat: bool,
    /// The steps from the first array, structure, count or length on.
    steps: Option<Steps<'a>>,
    fault: Option<Fault>,
}

impl<'a> Fields<'a> {
    /// An iterator over all values. The elements of an array are separate values with the same name.
    #[inline]
    pub fn iter(&self) -> Values<'a> {
        let is_flat = matches!(self.schema.fields, FieldList::Table { .. });
        Values { fields: *self, table: self.schema.fields.top(), is_flat, rest: self.payload, steps: None, fault: None }
    }

    /// The first value of the first field with this name, which can be a member of a structure.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|value| value.name == name)
    }

    /// The value at a position among all values.
    pub fn at(&self, position: usize) -> Option<Value<'a>> {
        self.iter().nth(position)
    }

    /// All values with this name, such as the elements of an array.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = Value<'a>> + use<'a, 'n> {
        self.iter().filter(move |value| value.name == name)
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
        self.steps().try_for_each(|step| step.map(drop))
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

    /// The next value in the most frequent case: of a field of fixed size in a table.
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

    /// The next value, if its bytes determine its size, as those of a string do, or if the field has a constant length.
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

    /// The end of a payload whose values were all read without [`Steps`].
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
