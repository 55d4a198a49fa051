//! The fields of a kernel event, as columns of a table.

use crate::column::Column;
use etw_layouts::events;
use etw_layouts_etl::payload::{FieldList, Schema};
use std::cmp::Reverse;

/// A column for each field of a kernel event: the fields of its newest version, then those that only earlier versions have. Members of a
/// structure are in its column. Empty if the specs have no event with this name.
pub fn columns(event: &str) -> Vec<Column> {
    let is_called = |schema: &&Schema<'_>| schema.to_string().eq_ignore_ascii_case(event);
    let mut schemas: Vec<_> = events::all().map(|(.., schema)| schema).filter(is_called).collect();
    schemas.sort_by_key(|schema| Reverse(schema.version));
    let mut columns = Vec::new();
    for name in schemas.into_iter().flat_map(names) {
        if !columns.contains(&Column::Field(name)) {
            columns.push(Column::Field(name));
        }
    }
    columns
}

/// The names of the fields that are not members of structures.
fn names(schema: &Schema<'static>) -> Vec<&'static str> {
    let FieldList::Table { all, top } = schema.fields else { return Vec::new() };
    let (mut list, mut members) = (Vec::new(), 0_usize);
    for field in all.iter().take(top.into()) {
        match members.checked_sub(1) {
            Some(left) => members = left,
            None => list.push(field.name),
        }
        if field.members.first.is_none() {
            members += usize::from(field.members.count);
        }
    }
    list
}
