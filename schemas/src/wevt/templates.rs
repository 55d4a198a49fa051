//! Templates: TEMP. The items of a template are the fields of events.

use super::Failure;
use super::bytes::Bytes;
use super::maps::MapIndices;
use crate::budget::Budget;
use crate::model::{Count, Field, FieldReference, Length};
use crate::records::forget_positions;
use crate::schemas::SchemaError;
use etw_layouts_payload::{InType, OutType};
use std::collections::HashMap;
use std::ops::Range;

/// Size of an item, in bytes: flags; encoding and display format, or index and number of members; offset of a map; count; length; offset of the name.
const ITEM: usize = 20;

/// Flags of an item.
const STRUCTURE: u32 = 1;
const FIXED_LENGTH: u32 = 2;
const LENGTH_BY_ITEM: u32 = 4;
const FIXED_COUNT: u32 = 8;
const COUNT_BY_ITEM: u32 = 0x10;

/// Maximum nesting of structures. Manifests have one level.
const MAX_DEPTH: usize = 8;

/// The fields of a template at an offset.
pub(super) fn fields(bytes: Bytes<'_>, at: usize, maps: &MapIndices, budget: &mut Budget) -> Result<Vec<Field>, Failure> {
    if bytes.signature(at)? != *b"TEMP" {
        return Err(SchemaError::offset(at, "corrupt template: the signature is not TEMP").into());
    }
    let top = bytes.size(at + 8)?;
    if top == 0 {
        return Ok(Vec::new());
    }
    let first = bytes.size(at + 16)?;
    let all = bytes.count(at + 12, first, ITEM)?;
    let mut items = Items { bytes, first, all, maps, budget, count: 0, positions: HashMap::new() };
    let mut fields = items.fields(0..top, &mut Vec::new())?;
    forget_positions(&mut fields);
    Ok(fields)
}

struct Items<'a, 'b> {
    bytes: Bytes<'a>,
    first: usize,
    all: usize,
    maps: &'a MapIndices,
    budget: &'b mut Budget,
    /// Number of fields so far, including members.
    count: u16,
    /// The positions of the latest fields of items among all fields.
    positions: HashMap<usize, u16>,
}

impl Items<'_, '_> {
    /// The items of a range as fields. `scope` has the indices of earlier items in each of the enclosing structures.
    fn fields(&mut self, range: Range<usize>, scope: &mut Vec<Range<usize>>) -> Result<Vec<Field>, Failure> {
        if range.end > self.all || scope.len() > MAX_DEPTH {
            let message = "corrupt template: items are beyond its end, or nested too deeply";
            return Err(SchemaError::offset(self.at(range.start), message).into());
        }
        let mut fields = Vec::new();
        for index in range.clone() {
            scope.push(range.start..index);
            let field = self.field(index, scope)?;
            scope.pop();
            self.budget.take(size_of::<Field>() + field.name.len())?;
            fields.push(field);
        }
        Ok(fields)
    }

    fn field(&mut self, index: usize, scope: &mut Vec<Range<usize>>) -> Result<Field, Failure> {
        let (bytes, at) = (self.bytes, self.at(index));
        self.positions.insert(index, self.count);
        self.count = self.count.saturating_add(1);
        let flags = bytes.u32(at)?;
        let (count, length) = (bytes.u16(at + 12)?, bytes.u16(at + 14)?);
        let mut field = if flags & STRUCTURE != 0 {
            let first = usize::from(bytes.u16(at + 4)?);
            let members = self.fields(first..first + usize::from(bytes.u16(at + 6)?), scope)?;
            Field { members, ..Field::new(self.name(index)?, InType::STRUCT) }
        } else {
            let field = Field::new(self.name(index)?, InType(bytes.u8(at + 4)?.into()));
            let map = match bytes.size(at + 8)? {
                0 => None,
                offset => *self.maps.get(&offset).ok_or_else(|| {
                    SchemaError::offset(
                        at,
                        format!("corrupt template: an item refers to a map at offset {offset:#x}, which does not exist"),
                    )
                })?,
            };
            Field { out_type: OutType(bytes.u8(at + 5)?.into()), map, ..field }
        };
        if flags & COUNT_BY_ITEM != 0 {
            field.count = Count::Field(self.referred(at, count, scope)?);
        } else if flags & FIXED_COUNT != 0 {
            field.count = Count::Constant(count);
        }
        if flags & LENGTH_BY_ITEM != 0 {
            field.length = Length::Field(self.referred(at, length, scope)?);
        } else if flags & FIXED_LENGTH != 0 {
            field.length = Length::Constant(length);
        }
        Ok(field)
    }

    /// The item with an index. The item at the offset `at` refers to it.
    fn referred(&self, at: usize, index: u16, scope: &[Range<usize>]) -> Result<FieldReference, SchemaError> {
        if scope.iter().any(|before| before.contains(&index.into())) {
            let position = self.positions.get(&index.into()).copied();
            return Ok(FieldReference { name: self.name(index.into())?, position });
        }
        Err(SchemaError::offset(
            at,
            format!("corrupt template: the count or length of an item is item {index}, which is not before it"),
        ))
    }

    fn name(&self, index: usize) -> Result<String, SchemaError> {
        let offset = self.bytes.size(self.at(index) + 16)?;
        self.bytes.string(offset)
    }

    fn at(&self, index: usize) -> usize {
        self.first.saturating_add(index.saturating_mul(ITEM))
    }
}
