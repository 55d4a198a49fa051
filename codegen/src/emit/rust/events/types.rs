//! Plain-old-data types of payloads without variable parts, by pointer size where it matters.

use crate::emit::rust::docs::{comment, indented, literal};
use crate::emit::rust::names::{Taken, member};
use crate::event::{Class, Event, Field, Kind, Size, Versions};
use std::fmt::Write;

/// The types of a class.
pub(super) fn of<'a>(classes: impl Iterator<Item = &'a Class>) -> String {
    let mut out = String::new();
    let mut taken = Taken::of(Vec::new());
    for class in classes {
        for event in &class.events {
            for versions in same_fields(event) {
                one(class, event, versions, &mut taken, &mut out);
            }
        }
    }
    out
}

/// The versions of an event, as ranges with the same fields.
fn same_fields(event: &Event) -> Vec<Versions> {
    let mut runs: Vec<Versions> = Vec::new();
    let spans = |version| event.of(version).map(|field| field.name.span).collect::<Vec<_>>();
    for version in event.versions.value.iter() {
        match runs.last_mut() {
            Some(run) if spans(run.last) == spans(version) => run.last = version,
            _ => runs.push(Versions { first: version, last: version }),
        }
    }
    runs
}

/// The types of a range of versions: two if the size depends on pointers, none if there are variable parts.
fn one(class: &Class, event: &Event, versions: Versions, taken: &mut Taken, out: &mut String) {
    let fields: Vec<_> = event.of(versions.first).collect();
    let is_plain = |field: &&Field| {
        let kind = field.ty.value.kind;
        let fixed = field.size(versions.first).is_some() && !field.optional;
        fixed && !matches!(kind, Kind::Structure | Kind::Float)
    };
    if fields.is_empty() || !fields.iter().all(is_plain) {
        return;
    }
    let Some(first) = event.types.first() else { return };
    let size = |index: usize| {
        let sizes = fields.iter().filter_map(|field| field.size(versions.first));
        sizes.map(|size| size[index]).sum::<u64>()
    };
    let name = format!("{}_V{}", first.name.value.replace(['-', '.'], "_"), versions.first);
    let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("E{name}") } else { name };
    let variants: &[(usize, &str, &str)] = match size(0) == size(1) {
        true if !fields.iter().any(|field| field.size(versions.first).is_some_and(|[one, other]| one != other)) => &[(0, "", "")],
        _ => &[(0, "_32", " with pointers of 4 bytes"), (1, "_64", " with pointers of 8 bytes")],
    };
    for &(index, suffix, pointers) in variants {
        let types: Vec<_> = event.types.iter().map(|ty| format!("`{}/{}`", class.name.value, ty.name.value)).collect();
        let version = match versions {
            Versions { first, last } if first == last => format!("version {first}"),
            Versions { first, last } => format!("versions {first} to {last}"),
        };
        let doc = format!("{}, {version}{pointers}: {:#x} bytes.\n\n{}", types.join(", "), size(index), event.doc);
        let name = taken.free(format!("{name}{suffix}"));
        let align = [8, 4, 2].into_iter().find(|align| size(index).is_multiple_of(*align) && has(&fields, index, *align));
        let align = align.unwrap_or(1);
        let _ = write!(out, "\nruntime::layout! {{\n{}", indented(&comment(&doc, "")));
        let _ = writeln!(out, "    pub struct {name}: {:#x}, {align} {{", size(index));
        rows(&fields, index, align, versions.first, out);
        out.push_str("    }\n}\n");
    }
}

/// Whether a field has this alignment.
fn has(fields: &[&Field], index: usize, align: u64) -> bool {
    fields.iter().any(|field| value(field, index).1 == align)
}

/// The members of a type. A member that needs more alignment than it has in the type is stored as bytes.
fn rows(fields: &[&Field], index: usize, align: u64, version: u8, out: &mut String) {
    let mut offset = 0;
    for field in fields.iter().filter(|field| field.size(version).is_none_or(|size| size[index] > 0)) {
        let (mut ty, own) = value(field, index);
        let size = field.size(version).map_or(0, |size| size[index]);
        if own > align || !u64::is_multiple_of(offset, own) {
            ty = format!("runtime::Bytes<{ty}, {size}>");
        }
        let doc = if field.doc.is_empty() { "." } else { &field.doc };
        let name = member(&field.name.value);
        let _ = writeln!(out, "        {offset:#04x} {name}: {ty} = {:?}, {};", field.spelled(), literal(doc));
        offset += size;
    }
}

/// The Rust type of a field, and its alignment.
fn value(field: &Field, index: usize) -> (String, u64) {
    let ty = field.ty.value;
    let width = ty.size.map_or(1, |size| size[index]);
    let (one, align) = match (ty.name, ty.kind) {
        ("Pointer", _) => (format!("runtime::Ptr{}", 8 * width), width),
        ("GUID", _) => ("[u8; 16]".to_owned(), 1),
        ("SYSTEMTIME", _) => ("[u16; 8]".to_owned(), 2),
        ("FILETIME", _) => ("u64".to_owned(), 8),
        (name, Kind::Integer) if name.starts_with("Int") => (format!("i{}", 8 * width), width),
        (_, Kind::Integer | Kind::Pointer | Kind::Character) => (format!("u{}", 8 * width), width),
        _ => ("u8".to_owned(), 1),
    };
    let bytes = match field.length.as_ref().map(|length| &length.value) {
        Some(Size::Number(length)) => format!("[u8; {}]", u64::from(*length) * ty.unit),
        _ => one,
    };
    let text = match field.count.as_ref().map(|count| &count.value) {
        Some(Size::Number(count)) => format!("[{bytes}; {count}]"),
        _ => bytes,
    };
    (text, align)
}
