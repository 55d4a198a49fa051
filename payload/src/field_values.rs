//! Values of one field, by its position in the list of fields.

use crate::fields::Fields;
use crate::schema::{Count, Field, Length};
use crate::size::{self, PointerSize};
use crate::steps::{Step, Steps};
use crate::types::InType;
use crate::value::Value;

/// An iterator over the values of one field: its value, or the elements of an array of values.
#[derive(Clone, Debug)]
pub struct FieldValues<'a> {
    steps: Steps<'a>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Field,
    Array,
    Done,
}

impl<'a> Fields<'a> {
    /// The values of the field at a position in the list of fields, outside structures. No name is compared. The iterator is empty if the payload
    /// ends before the field, and for structures.
    pub fn of_field(&self, position: u32) -> FieldValues<'a> {
        let mut steps = self.steps();
        let state = if steps.go_to(position) { State::Field } else { State::Done };
        FieldValues { steps, state }
    }
}

impl<'a> Iterator for FieldValues<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.state == State::Done {
            return None;
        }
        let before = core::mem::replace(&mut self.state, State::Done);
        match (before, self.steps.next()?.ok()?) {
            (State::Field, Step::Value(value)) => Some(value),
            (State::Field, Step::Array(..)) => {
                self.state = State::Array;
                self.next()
            }
            (State::Array, Step::Value(value)) => {
                self.state = State::Array;
                Some(value)
            }
            _ => None,
        }
    }
}

impl<'a> Field<'a> {
    /// A value of the field, with its bytes in the payload.
    #[inline]
    pub fn value(&self, bytes: &'a [u8]) -> Value<'a> {
        Value::new(self, bytes)
    }

    /// The size of the field in bytes, if all payloads with pointers of this size have the same; `None` also for structures.
    pub const fn fixed_size(&self, pointers: PointerSize) -> Option<usize> {
        let count = match self.count {
            Count::One => 1,
            Count::Constant(_) if self.pointer != 0 && self.pointer as usize != pointers.bytes() => 0,
            Count::Constant(count) => count as usize,
            _ => return None,
        };
        match (size::fixed(self.in_type, pointers), self.length) {
            (0, Length::Constant(length)) => match self.in_type {
                InType::BINARY | InType::ANSISTRING => Some(length as usize * count),
                InType::UNICODESTRING => Some(2 * length as usize * count),
                _ => None,
            },
            (0, _) => None,
            (size, _) => Some(size * count),
        }
    }
}
