//! A column of a field: values, lists and structures.

use crate::scalar::Scalar;
use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use etw_layouts_etl::Clock;
use etw_layouts_etl::payload::{Step, Steps, Value, ValueMap};
use std::sync::Arc;

/// A column.
#[derive(Debug)]
pub(crate) enum Node {
    Scalar(Box<Scalar>),
    List { name: String, item: Box<Node>, offsets: Vec<i32>, nulls: NullBufferBuilder },
    Structure { name: String, members: Vec<Node>, nulls: NullBufferBuilder },
}

/// The part of a node that was filled from a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    Whole,
    /// The payload ends within the node: the rest of the node is null.
    Partly,
    /// The payload ends before the node: nothing was added.
    Nothing,
}

impl Node {
    pub fn list(name: String, item: Self) -> Self {
        Self::List { name, item: Box::new(item), offsets: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    pub fn structure(name: String, members: Vec<Self>) -> Self {
        Self::Structure { name, members, nulls: NullBufferBuilder::new(0) }
    }

    /// The columns of the node.
    pub fn fields(&self) -> Vec<Field> {
        match self {
            Self::Scalar(scalar) => scalar.fields(),
            Self::List { name, item, .. } => item
                .fields()
                .into_iter()
                .map(|field| Field::new(list_name(name, &field), DataType::List(item_of(field)), true))
                .collect(),
            Self::Structure { name, members, .. } => {
                vec![Field::new(name, DataType::Struct(members.iter().flat_map(Self::fields).collect()), true)]
            }
        }
    }

    /// The number of columns, including those of members.
    pub fn columns(&self) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::List { item, .. } => 1 + item.columns(),
            Self::Structure { members, .. } => 1 + members.iter().map(Self::columns).sum::<usize>(),
        }
    }

    /// Adds the next field of a payload. `left` limits the number of values, or 8 bytes of names.
    pub fn fill(&mut self, steps: &mut Steps<'_>, clock: &Clock, left: &mut usize) -> Filled {
        let Some(next) = left.checked_sub(1) else { return Filled::Nothing };
        *left = next;
        match (self, steps.next()) {
            (Self::Scalar(scalar), Some(Ok(Step::Value(value)))) => {
                *left = left.saturating_sub(scalar.add(&value, || value.map, clock) / 8);
                Filled::Whole
            }
            (Self::List { item, offsets, nulls, .. }, Some(Ok(Step::Array(_, count)))) => {
                let (mut length, mut filled) = (offsets.last().copied().unwrap_or(0), Filled::Whole);
                for _ in 0..count {
                    let element = item.fill(steps, clock, left);
                    length += i32::from(element != Filled::Nothing);
                    if element != Filled::Whole {
                        filled = Filled::Partly;
                        break;
                    }
                }
                offsets.push(length);
                nulls.append_non_null();
                if filled == Filled::Whole && !matches!(steps.next(), Some(Ok(Step::End))) { Filled::Partly } else { filled }
            }
            (Self::Structure { members, nulls, .. }, Some(Ok(Step::Structure(_)))) => {
                let mut filled = Filled::Whole;
                for member in members {
                    let part = if filled == Filled::Whole { member.fill(steps, clock, left) } else { Filled::Nothing };
                    if part == Filled::Nothing {
                        member.add_null();
                    }
                    if part != Filled::Whole {
                        filled = Filled::Partly;
                    }
                }
                nulls.append_non_null();
                if filled == Filled::Whole && !matches!(steps.next(), Some(Ok(Step::End))) { Filled::Partly } else { filled }
            }
            _ => Filled::Nothing,
        }
    }

    /// Adds an array. `map` returns the names of values. Returns the memory for new names, in bytes.
    pub fn add_array<'v>(
        &mut self,
        elements: impl Iterator<Item = Value<'v>>,
        map: impl Fn() -> Option<ValueMap<'v>>,
        clock: &Clock,
    ) -> usize {
        let scalars = match self {
            Self::List { item, offsets, nulls, .. } => match item.as_mut() {
                Self::Scalar(scalar) => Some((scalar, offsets, nulls)),
                _ => None,
            },
            _ => None,
        };
        let Some((scalar, offsets, nulls)) = scalars else {
            self.add_null();
            return 0;
        };
        let (mut length, mut memory) = (offsets.last().copied().unwrap_or(0), 0);
        for element in elements {
            memory += scalar.add(&element, &map, clock);
            length += 1;
        }
        offsets.push(length);
        nulls.append_non_null();
        memory
    }

    /// Forgets names of values, because the next event has another schema.
    pub fn forget_names(&mut self) {
        match self {
            Self::Scalar(scalar) => scalar.forget_name(),
            Self::List { item, .. } => item.forget_names(),
            Self::Structure { members, .. } => members.iter_mut().for_each(Self::forget_names),
        }
    }

    /// Adds a row without a value.
    pub fn add_null(&mut self) {
        self.add_nulls(1);
    }

    /// Adds rows without values, up to a number of rows.
    pub fn pad(&mut self, rows: usize) {
        self.add_nulls(rows.saturating_sub(self.rows()));
    }

    fn add_nulls(&mut self, count: usize) {
        match self {
            Self::Scalar(scalar) => scalar.add_nulls(count),
            Self::List { offsets, nulls, .. } => {
                offsets.resize(offsets.len() + count, offsets.last().copied().unwrap_or(0));
                nulls.append_n_nulls(count);
            }
            Self::Structure { members, nulls, .. } => {
                members.iter_mut().for_each(|member| member.add_nulls(count));
                nulls.append_n_nulls(count);
            }
        }
    }

    fn rows(&self) -> usize {
        match self {
            Self::Scalar(scalar) => scalar.rows(),
            Self::List { nulls, .. } | Self::Structure { nulls, .. } => nulls.len(),
        }
    }

    /// Removes all rows, and returns their columns.
    pub fn take(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        match self {
            Self::Scalar(scalar) => scalar.take(),
            Self::List { item, offsets, nulls, .. } => {
                let offsets = OffsetBuffer::new(std::mem::replace(offsets, vec![0]).into());
                let nulls = nulls.finish();
                let fields = item.fields();
                let items = item.take()?;
                let list = |(field, items)| {
                    let list = ListArray::try_new(item_of(field), offsets.clone(), items, nulls.clone())?;
                    Ok(Arc::new(list) as ArrayRef)
                };
                fields.into_iter().zip(items).map(list).collect()
            }
            Self::Structure { members, nulls, .. } => {
                let fields: Fields = members.iter().flat_map(Self::fields).collect();
                let arrays: Result<Vec<_>, _> = members.iter_mut().map(Self::take).collect();
                let nulls = nulls.finish();
                Ok(vec![Arc::new(StructArray::try_new(fields, arrays?.concat(), nulls)?)])
            }
        }
    }
}

/// The field for the elements of a list. It has the same name in all lists.
fn item_of(field: Field) -> FieldRef {
    Arc::new(field.with_name("item"))
}

/// The name of the list for a column of the elements: the name of the array, with the suffix of that column.
fn list_name(name: &str, item: &Field) -> String {
    let end = item.name().strip_prefix(name).filter(|end| matches!(*end, "_name" | "_tick" | "_number"));
    format!("{name}{}", end.unwrap_or_default())
}
