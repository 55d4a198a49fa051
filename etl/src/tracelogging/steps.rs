//! The way through a payload.

use super::fault::{Fault, Reason};
use super::schema::{Count, Field, Schema};
use super::types::InType;
use super::value::Value;

/// A step on the way through a payload. A field is followed by its value: a [`Value`](Self::Value); or a
/// [`Structure`](Self::Structure), the fields of its members, and an [`End`](Self::End); or an [`Array`](Self::Array), its
/// elements, which are values or structures, and an end. An array of characters is one value, a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step<'a> {
    /// A field.
    Field(Field<'a>),
    /// A value of the field at hand.
    Value(Value<'a>),
    /// A structure begins.
    Structure,
    /// An array of so many elements begins.
    Array(u16),
    /// The structure or the array ends that began last.
    End,
}

/// How deep structures and arrays nest at most.
const DEPTH: usize = 32;

/// What may come out of a byte of event at most, counted in steps and bytes of names: what nests can be named for each element
/// of an array, and takes a payload of few bytes or none.
const WORK: usize = 256;

/// The steps through a payload. After a fault there are none.
#[derive(Clone, Debug)]
pub struct Steps<'a> {
    /// What is left of the schema's fields.
    fields: &'a [u8],
    payload: &'a [u8],
    read: usize,
    levels: [Level<'a>; DEPTH],
    depth: usize,
    /// The field that was told, whose value comes next.
    told: Option<Field<'a>>,
    /// What may still come out.
    work: usize,
    fault: Option<Fault>,
    is_done: bool,
}

/// What a step is in.
#[derive(Clone, Copy, Debug)]
enum Level<'a> {
    /// A structure with so many members left.
    Structure(u8),
    /// An array of so many elements left, and the fields of the schema behind its own.
    Array(Field<'a>, u16, &'a [u8]),
}

impl<'a> Steps<'a> {
    pub(super) fn new(schema: Result<Schema<'a>, Fault>, payload: &'a [u8]) -> Self {
        let (fields, fault) = match schema {
            Ok(schema) => (schema.fields, None),
            Err(fault) => (&[][..], Some(fault)),
        };
        Self {
            fields,
            payload,
            read: 0,
            levels: [Level::Structure(0); DEPTH],
            depth: 0,
            told: None,
            work: WORK * (64 + fields.len() + payload.len()),
            fault,
            is_done: false,
        }
    }

    /// What is not decoded of the payload.
    pub fn rest(&self) -> &'a [u8] {
        &self.payload[self.read..]
    }

    fn step(&mut self) -> Result<Option<Step<'a>>, Reason> {
        if let Some(field) = self.told.take() {
            return self.begin(field).map(Some);
        }
        match self.depth.checked_sub(1).map(|top| &mut self.levels[top]) {
            None if !self.fields.is_empty() => self.field().map(Some),
            None if self.read < self.payload.len() => Err(Reason::Rest),
            None => Ok(None),
            Some(Level::Structure(0)) => self.end(),
            Some(Level::Structure(left)) => {
                *left -= 1;
                match self.fields.is_empty() {
                    true => Err(Reason::Members),
                    false => self.field().map(Some),
                }
            }
            Some(Level::Array(_, 0, _)) => self.end(),
            Some(Level::Array(field, left, behind)) => {
                *left -= 1;
                let (field, behind) = (*field, *behind);
                if !field.is_structure() {
                    return self.value(field).map(Some);
                }
                // The members of every element are the same.
                self.fields = behind;
                self.push(Level::Structure(field.members))?;
                Ok(Some(Step::Structure))
            }
        }
    }

    fn field(&mut self) -> Result<Step<'a>, Reason> {
        let field = Field::read(&mut self.fields)?;
        self.work = self.work.checked_sub(field.name.len()).ok_or(Reason::Work)?;
        self.told = Some(field);
        Ok(Step::Field(field))
    }

    fn begin(&mut self, field: Field<'a>) -> Result<Step<'a>, Reason> {
        let count = match field.count {
            Count::One if field.is_structure() => {
                self.push(Level::Structure(field.members))?;
                return Ok(Step::Structure);
            }
            Count::One | Count::Custom(_) => return self.value(field),
            Count::Constant(count) => count,
            Count::Variable => {
                let count = self.payload[self.read..].first_chunk().ok_or(Reason::Payload)?;
                self.read += count.len();
                u16::from_le_bytes(*count)
            }
        };
        if let Some(size) = Value::character(&field) {
            let bytes = self.payload[self.read..].get(..size * usize::from(count)).ok_or(Reason::Payload)?;
            self.read += bytes.len();
            return Ok(Step::Value(Value::characters(&field, bytes)));
        }
        self.push(Level::Array(field, count, self.fields))?;
        if count == 0 {
            self.skip(field.members)?;
        }
        Ok(Step::Array(count))
    }

    /// Passes over the members of a structure that is not there.
    fn skip(&mut self, members: u8) -> Result<(), Reason> {
        let mut left = usize::from(members);
        while left > 0 {
            self.work = self.work.checked_sub(1).ok_or(Reason::Work)?;
            if self.fields.is_empty() {
                return Err(Reason::Members);
            }
            left = left - 1 + usize::from(Field::read(&mut self.fields)?.members);
        }
        Ok(())
    }

    fn value(&mut self, field: Field<'a>) -> Result<Step<'a>, Reason> {
        let is_custom = matches!(field.count, Count::Custom(_));
        let is_known = field.in_type.name().is_some() && !matches!(field.in_type, InType::NULL | InType::STRUCT);
        if !is_custom && !is_known {
            return Err(Reason::Type(field.in_type.0));
        }
        let (value, size) = Value::read(&field, &self.payload[self.read..]).ok_or(Reason::Payload)?;
        self.read += size;
        Ok(Step::Value(value))
    }

    fn push(&mut self, level: Level<'a>) -> Result<(), Reason> {
        *self.levels.get_mut(self.depth).ok_or(Reason::Depth)? = level;
        self.depth += 1;
        Ok(())
    }

    fn end(&mut self) -> Result<Option<Step<'a>>, Reason> {
        self.depth -= 1;
        Ok(Some(Step::End))
    }
}

impl<'a> Iterator for Steps<'a> {
    type Item = Result<Step<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        if let Some(fault) = self.fault.take() {
            self.is_done = true;
            return Some(Err(fault));
        }
        let before = self.read;
        let step = match self.work.checked_sub(1) {
            Some(work) => {
                self.work = work;
                self.step()
            }
            None => Err(Reason::Work),
        };
        match step {
            Ok(Some(step)) => Some(Ok(step)),
            Ok(None) => {
                self.is_done = true;
                None
            }
            Err(reason) => {
                (self.is_done, self.read) = (true, before);
                Some(Err(reason.at(before)))
            }
        }
    }
}
