//! Fields compiled for one size of pointers, so that values are read without the schema.

use crate::data::number;
use crate::fault::{Fault, FaultKind};
use crate::map::ValueMap;
use crate::name::FieldName;
use crate::schema::{Count, Field, FieldList, Length};
use crate::size::{self, PointerSize, character};
use crate::steps::Steps;
use crate::types::{InType, OutType};
use crate::value::Value;

/// A field outside structures, compiled for one size of pointers. [`FieldList::slots`] compiles the fields of a schema once, and a
/// [`Cursor`] reads each payload with them.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Encoding of the values.
    pub in_type: InType,
    /// Display format of the values.
    pub out_type: OutType,
    /// Position of the field in its list.
    at: u32,
    shape: Shape,
    /// The place in [`Cursor`] of a value that is the count or length of later fields.
    kept: Option<u8>,
    has_length: bool,
    is_optional: bool,
    is_last: bool,
}

/// The bytes of a field.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// A value of this number of bytes.
    Fixed(u16),
    /// A value with its extent in its bytes.
    Type,
    /// A value of this length, in bytes or characters.
    Length(Size),
    /// This number of elements, each of the second number of bytes.
    Array(Size, u8),
    /// This number of characters, each of the second number of bytes: one value.
    Characters(Size, u8),
}

/// A count or a length.
#[derive(Clone, Copy, Debug)]
enum Size {
    Constant(u16),
    /// The kept value with this place.
    Kept(u8),
    /// The 16 bits before the values.
    Variable,
    /// As many elements as the payload contains.
    Rest,
}

/// Maximum number of values that are counts or lengths of later fields.
const KEPT: usize = 16;

/// The fields of a schema with their slots, up to the first structure or other field that only [`Steps`] read.
#[derive(Clone, Debug)]
pub struct Slots<'a> {
    list: FieldList<'a>,
    pointers: PointerSize,
    /// Position of the next field.
    at: u32,
    /// Positions of the fields with kept values.
    kept: [u32; KEPT],
    kept_count: usize,
}

/// Reads a payload field by field.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    payload: &'a [u8],
    rest: &'a [u8],
    pointers: PointerSize,
    kept: [u32; KEPT],
}

/// The bytes of a field in a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// One value.
    Value(&'a [u8]),
    /// An array: its elements, and the size of an element in bytes.
    Array(&'a [u8], usize),
    /// The end of the payload, before a field that payloads can omit.
    End,
}

impl<'a> FieldList<'a> {
    /// Compiles the fields for payloads with pointers of a size.
    pub fn slots(&self, pointers: PointerSize) -> Slots<'a> {
        Slots { list: *self, pointers, at: 0, kept: [0; KEPT], kept_count: 0 }
    }

    /// The map of the field with a slot.
    pub fn map(&self, slot: &Slot) -> Option<ValueMap<'a>> {
        self.read(slot.at).ok()?.0.map
    }
}

impl Slots<'_> {
    /// Position of the next field.
    pub fn position(&self) -> u32 {
        self.at
    }

    /// Whether all fields have slots.
    pub fn is_done(&self) -> bool {
        self.at >= self.list.end()
    }

    fn shape(&self, field: &Field<'_>) -> Option<Shape> {
        let size = size::fixed(field.in_type, self.pointers) as u8;
        let count = match field.count {
            Count::One => {
                return Some(match field.length {
                    _ if size > 0 => Shape::Fixed(size.into()),
                    Length::Type => Shape::Type,
                    Length::Constant(length) => Shape::Length(Size::Constant(length)),
                    Length::Field(index) => Shape::Length(self.kept(index)?),
                    Length::Variable => Shape::Length(Size::Variable),
                });
            }
            Count::Custom(_) => return Some(Shape::Length(Size::Variable)),
            Count::Constant(_) if field.pointer != 0 && usize::from(field.pointer) != self.pointers.bytes() => Size::Constant(0),
            Count::Constant(count) => Size::Constant(count),
            Count::Field(index) => self.kept(index)?,
            Count::Variable => Size::Variable,
            Count::Rest => Size::Rest,
        };
        match character(field.in_type, field.out_type) {
            Some(size) => Some(Shape::Characters(count, size as u8)),
            None => (size > 0 && !field.is_size).then_some(Shape::Array(count, size)),
        }
    }

    fn kept(&self, index: u16) -> Option<Size> {
        let place = self.kept[..self.kept_count].iter().position(|at| *at == u32::from(index))?;
        Some(Size::Kept(place as u8))
    }
}

impl<'a> Iterator for Slots<'a> {
    type Item = (Field<'a>, Slot);

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done() {
            return None;
        }
        let at = self.at;
        let (field, behind) = self.list.read(at).ok().filter(|(field, _)| !field.is_structure())?;
        let shape = self.shape(&field)?;
        let mut kept = None;
        if field.is_size && matches!(shape, Shape::Fixed(_)) {
            *self.kept.get_mut(self.kept_count)? = at;
            kept = Some(self.kept_count as u8);
            self.kept_count += 1;
        }
        self.at = behind;
        let (in_type, out_type) = match field.count {
            Count::Custom(_) => (InType::BINARY, OutType::NULL),
            _ => (field.in_type, field.out_type),
        };
        let has_length = field.length != Length::Type;
        let (is_optional, is_last) = (field.is_optional, self.is_done());
        Some((field, Slot { in_type, out_type, at, shape, kept, has_length, is_optional, is_last }))
    }
}

impl Slot {
    /// Position of the field in its list.
    pub fn position(&self) -> u32 {
        self.at
    }

    /// The size of the field in bytes, if it is one value of fixed size.
    pub fn size(&self) -> Option<usize> {
        if let Shape::Fixed(size) = self.shape { Some(size.into()) } else { None }
    }

    /// Whether the field is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.shape, Shape::Array(..))
    }

    /// A value of the field, or an element of the array, without the name of the field and without names of values.
    #[inline]
    pub fn value<'a>(&self, bytes: &'a [u8]) -> Value<'a> {
        let Self { in_type, out_type, has_length, .. } = *self;
        Value { name: FieldName::Text(""), in_type, out_type, map: None, bytes, has_length }
    }
}

impl<'a> Cursor<'a> {
    /// At the start of a payload.
    #[inline]
    pub fn new(payload: &'a [u8], pointers: PointerSize) -> Self {
        Self { payload, rest: payload, pointers, kept: [0; KEPT] }
    }

    /// Reads the next field. `None` if the payload ends within it, or is invalid: then [`steps`](Self::steps) read the rest, and find the
    /// error.
    #[inline(always)]
    pub fn next(&mut self, slot: &Slot) -> Option<Part<'a>> {
        match (slot.shape, slot.kept) {
            (Shape::Fixed(size), None) if usize::from(size) <= self.rest.len() => self.take(size.into()).map(Part::Value),
            _ => self.other(slot),
        }
    }

    fn other(&mut self, slot: &Slot) -> Option<Part<'a>> {
        if slot.is_optional && self.rest.is_empty() {
            return Some(Part::End);
        }
        let before = self.rest;
        let part = self.part(slot);
        if part.is_none() {
            self.rest = before;
        }
        part
    }

    fn part(&mut self, slot: &Slot) -> Option<Part<'a>> {
        let length = match slot.shape {
            Shape::Fixed(size) => {
                let bytes = self.take(size.into())?;
                if let Some(kept) = self.kept.get_mut(usize::from(slot.kept?)) {
                    *kept = u32::try_from(number(bytes)).unwrap_or(u32::MAX);
                }
                return Some(Part::Value(bytes));
            }
            Shape::Array(count, size) => {
                let size = usize::from(size);
                let bytes = self.count(count, size)?.checked_mul(size)?;
                return Some(Part::Array(self.take(bytes)?, size));
            }
            Shape::Characters(count, size) => {
                let size = usize::from(size);
                let bytes = self.count(count, size)?.checked_mul(size)?;
                return self.take(bytes).map(Part::Value);
            }
            Shape::Type => None,
            Shape::Length(size) => Some(self.size(size)?),
        };
        let types = (slot.in_type, slot.out_type);
        let (bytes, rest) = size::split(types, length, self.rest, self.pointers, slot.is_last).ok()?;
        self.rest = rest;
        Some(Part::Value(bytes))
    }

    /// A number of elements.
    fn count(&mut self, count: Size, size: usize) -> Option<usize> {
        match count {
            // Bytes after the last element are an error at the end.
            Size::Rest => Some((self.rest.len() / size).min(u16::MAX.into())),
            _ => self.size(count).filter(|count| *count <= u16::MAX.into()),
        }
    }

    fn size(&mut self, size: Size) -> Option<usize> {
        match size {
            Size::Constant(size) => Some(size.into()),
            Size::Kept(place) => self.kept.get(usize::from(place)).map(|size| *size as usize),
            Size::Variable => self.take(2).map(|bytes| number(bytes) as usize),
            Size::Rest => None,
        }
    }

    #[inline(always)]
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    /// The steps from the field at a position on, after the fields that were `read`.
    pub fn steps<'s>(&self, list: FieldList<'a>, read: impl Iterator<Item = &'s Slot>, position: u32) -> Steps<'a> {
        let mut steps = Steps::from(list, self.payload, self.pointers, position, self.payload.len() - self.rest.len());
        for slot in read {
            if let Some(value) = slot.kept.and_then(|kept| self.kept.get(usize::from(kept))) {
                steps.remember(slot.at, (*value).into());
            }
        }
        steps
    }

    /// After the last field: the fault if the payload has more bytes.
    #[inline]
    pub fn end(&self) -> Option<Fault> {
        (!self.rest.is_empty()).then(|| FaultKind::Rest.at(self.payload.len() - self.rest.len()))
    }
}
