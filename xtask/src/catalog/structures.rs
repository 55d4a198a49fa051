//! Structures that tools print as fields of another type.
//!
//! TDH describes a structure by the index and the number of its members, in the place of the types of other fields. Tools that do
//! not distinguish them print a type with the number of that index: index 11 becomes `Float`, 12 members become `Double`. The
//! members follow all other fields, so the index is at least the number of fields of the event. The members are not printed.

use super::report::Report;
use super::rows::{Row, is_valid};
use etw_layouts_payload::{InType, OutType, Uuid};
use etw_layouts_schemas::{Count, Field};
use std::collections::{BTreeMap, BTreeSet};

/// Changes the type of fields that are structures, and joins array elements that a tool prints as fields `Name-0`, `Name-1`.
pub fn resolve(rows: &mut [Row], report: &mut Report) {
    for fields in rows.iter_mut().filter_map(|row| row.fields.as_mut()) {
        join_elements(fields, report);
    }
    let names = names(rows);
    report.add("names of structures whose type is the index of their first member", names.len());
    for row in rows.iter_mut() {
        let states_sizes = row.states_sizes();
        let Some(fields) = &mut row.fields else { continue };
        let count = fields.len();
        for field in fields.iter_mut().filter(|field| field.members.is_empty()) {
            let number = usize::from(field.in_type.0);
            let is_index = number >= count || !is_valid(field) || field.in_type == InType::STRUCT;
            let is_array = matches!(field.count, Count::Field(_));
            // Without counts, only the first structure of an event is certain.
            let is_first = number == count && !states_sizes && names.contains(&(row.guid, field.name.clone(), true));
            if is_first || is_index && names.contains(&(row.guid, field.name.clone(), is_array)) {
                *field = Field { count: field.count.clone(), ..Field::new(&field.name, InType::STRUCT) };
                report.count("structures without known members");
            }
        }
        // Other numbers have no known meaning.
        if let Some(field) = fields.iter_mut().find(|field| field.in_type.name().is_none()) {
            report.example("types that are a number", &row.provider, &format!("{} {} {}", row.id, field.name, field.in_type.0));
            field.in_type = InType::STRUCT;
        }
        for field in fields.iter_mut().filter(|field| field.members.is_empty() && !is_valid(field)) {
            let text = format!("{} {} {}:{}", row.id, field.name, field.in_type.0, field.out_type.0);
            report.example("out types left out: not of the type", &row.provider, &text);
            field.out_type = OutType::NULL;
        }
    }
}

/// Provider and name of the fields that are structures, and whether they are arrays.
fn names(rows: &[Row]) -> BTreeSet<(Uuid, String, bool)> {
    let mut names = BTreeSet::new();
    // For arrays: the type, and the number of fields of the event.
    let mut arrays: BTreeMap<(Uuid, &str), BTreeSet<(u16, usize)>> = BTreeMap::new();
    for row in rows {
        let fields = row.fields.as_deref().unwrap_or_default();
        let mut first = None;
        for field in fields.iter().filter(|field| field.members.is_empty()) {
            let number = field.in_type.0;
            let is_array = matches!(field.count, Count::Field(_));
            let is_index = field.in_type.name().is_none() || field.in_type == InType::STRUCT || !is_valid(field);
            if is_index && usize::from(number) >= fields.len().min(26) {
                names.insert((row.guid, field.name.clone(), is_array));
            }
            if is_array {
                arrays.entry((row.guid, &field.name)).or_default().insert((number, fields.len()));
                match first {
                    None if usize::from(number) == fields.len() => first = Some(number),
                    // The second structure of an event.
                    Some(first) if number > first && !is_common(field.in_type) => {
                        names.insert((row.guid, field.name.clone(), true));
                    }
                    _ => {}
                }
            }
        }
    }
    for ((guid, name), seen) in arrays {
        let Some(&(number, _)) = seen.iter().find(|(number, count)| usize::from(*number) == *count) else { continue };
        // A type stays the same when the number of fields changes; an index does not.
        let is_type = seen.iter().any(|(other, count)| *other == number && usize::from(number) != *count);
        let is_index = seen.len() > 1 || !is_common(InType(number));
        if !is_type && is_index {
            names.insert((guid, name.to_owned(), true));
        }
    }
    names
}

/// The usual element types of arrays.
fn is_common(in_type: InType) -> bool {
    let common =
        [InType::UINT32, InType::UINT64, InType::INT32, InType::POINTER, InType::GUID, InType::UINT8, InType::UNICODESTRING];
    common.contains(&in_type)
}

/// Joins `Name-0`, `Name-1`, … to one field with this number of values. A single `Name-0` is a structure.
fn join_elements(fields: &mut Vec<Field>, report: &mut Report) {
    // Fields, and the number of elements that were printed for each.
    let mut joined: Vec<(Field, u16)> = Vec::new();
    for field in fields.drain(..) {
        let (base, index) = match field.name.rsplit_once('-') {
            Some((base, index)) => (base, index.parse::<u16>().ok()),
            None => (field.name.as_str(), None),
        };
        match (index, joined.last_mut()) {
            (Some(0), _) => joined.push((Field { name: base.to_owned(), ..field }, 1)),
            (Some(index), Some((last, count))) if last.name == base && *count == index && last.in_type == field.in_type => {
                *count += 1
            }
            _ => joined.push((field, 0)),
        }
    }
    let all = joined.into_iter().map(|(field, count)| match count {
        0 => field,
        1 => {
            report.count("structures printed as one element");
            Field::new(field.name, InType::STRUCT)
        }
        _ => {
            report.count("arrays printed as fields of their elements");
            Field { count: Count::Constant(count), ..field }
        }
    });
    *fields = all.collect();
}
