//! Structures and unions.

use super::Emitter;
use super::docs::comment;
use super::names::{inner_name, member, unnamed};
use crate::layouts::{Aggregate, Field, Flat, LayoutId, Type};
use crate::spec::Kind;
use std::fmt::Write;

impl Emitter<'_> {
    /// A layout's type, the types of its unnamed members, its proof, accessors and metadata.
    pub(super) fn aggregate(&self, id: LayoutId, aggregate: &Aggregate, out: &mut String) {
        let doc = self.layout_doc(id, aggregate);
        self.types(&self.type_name(id), Shown::Structure(&self.layouts.layouts[id].name), &doc, aggregate, out);
    }

    fn types(&self, name: &str, shown: Shown, doc: &str, aggregate: &Aggregate, out: &mut String) {
        let names = unnamed(&aggregate.fields);
        let (kind, rows) = match aggregate.kind {
            Kind::Struct => ("struct", self.members(name, aggregate, &names)),
            Kind::Union => ("union", self.branches(name, aggregate, &names)),
        };
        let (size, align) = (aggregate.extent.size, aggregate.extent.align);
        let _ = write!(out, "\n{doc}#[derive(Clone, Copy)]\n#[repr(C, align({align}))]\npub {kind} {name} {{\n");
        for row in &rows {
            let _ = writeln!(out, "{}    pub {}: {},", row.doc, row.name, row.ty);
        }
        out.push_str("}\n");
        let _ =
            write!(out, "\n// SAFETY: every member is listed.\nruntime::layout!(unsafe {kind} {name}, {size:#x}, {align}, [\n");
        for row in &rows {
            let _ = writeln!(out, "    {} = {:#x},", row.name, row.offset);
        }
        out.push_str("]);\n");
        if shown != Shown::Nothing {
            self.accessors(name, aggregate, out);
            self.described(name, shown, aggregate, out);
        } else {
            let _ = write!(out, "\nruntime::undescribed!({name});\n");
        }
        for (field, field_name) in aggregate.fields.iter().zip(&names) {
            if let Type::Inline(unnamed) = field.ty.element() {
                let sort = if unnamed.kind == Kind::Union { "union" } else { "structure" };
                let doc = format!("/// The unnamed {sort} at {:#04x} of [`{name}`].\n", field.offset);
                let shown = field.name.as_deref().map_or(Shown::Nothing, Shown::Member);
                self.types(&inner_name(name, field_name), shown, &doc, unnamed, out);
            }
        }
    }

    /// The members of a structure, bit fields by their unit, padding explicit.
    fn members(&self, name: &str, aggregate: &Aggregate, names: &[String]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut end = 0;
        for (field, field_name) in aggregate.fields.iter().zip(names) {
            if field.bits.is_some_and(|bits| bits.width == 0 || field.offset < end) {
                continue;
            }
            if field.offset > end {
                rows.push(Row::padding(end, field.offset - end));
            }
            let align = self.align(&field.ty);
            let fits = field.offset.is_multiple_of(align) && align <= aggregate.extent.align;
            rows.push(self.row(name, field, field_name, (!fits).then_some(field.size)));
            end = field.offset + field.size;
        }
        if aggregate.extent.size > end {
            rows.push(Row::padding(end, aggregate.extent.size - end));
        }
        rows
    }

    /// The branches of a union, each as long as the union.
    fn branches(&self, name: &str, aggregate: &Aggregate, names: &[String]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (field, field_name) in aggregate.fields.iter().zip(names) {
            if field.bits.is_some_and(|bits| bits.width == 0) {
                continue;
            }
            let size = aggregate.extent.size;
            let fills = field.size == size && self.align(&field.ty) <= aggregate.extent.align;
            let mut row = self.row(name, field, field_name, (!fills).then_some(size));
            let same = rows.iter().filter(|r| r.name.starts_with(&row.name)).count();
            if field.bits.is_some() && same > 0 {
                row.name = format!("{}_{}", row.name, same + 1);
            }
            rows.push(row);
        }
        rows
    }

    /// `within` is the number of bytes that begin with the member, where it cannot stand as itself.
    fn row(&self, name: &str, field: &Field, field_name: &str, within: Option<u64>) -> Row {
        let offset = field.offset;
        let (row, doc) = match (field.bits, &field.name) {
            (Some(_), _) => {
                (format!("bits{offset:02X}"), format!("    /// `{offset:#04x}`: bit fields, which have accessors.\n"))
            }
            (None, Some(_)) => (field_name.to_owned(), self.member_doc(field, offset)),
            (None, None) => (field_name.to_owned(), unnamed_doc(field)),
        };
        let ty = self.field_type(field, &inner_name(name, field_name));
        let ty = within.map(|size| format!("runtime::Bytes<{ty}, {size}>")).unwrap_or(ty);
        Row { name: row, ty, offset, doc }
    }

    /// Accessors for bit fields, and for the members of unnamed structures and unions.
    fn accessors(&self, name: &str, aggregate: &Aggregate, out: &mut String) {
        let is_field = |flat: &Flat| {
            let own = aggregate.fields.iter().any(|field| core::ptr::eq(field, flat.field));
            own && flat.field.bits.is_none() && aggregate.kind == Kind::Struct
        };
        let accessors: Vec<_> =
            aggregate.flat().iter().filter(|f| !is_field(f)).map(|f| self.accessor(name, aggregate, f)).collect();
        if !accessors.is_empty() {
            let _ = write!(out, "\nimpl {name} {{\n{}}}\n", accessors.join("\n"));
        }
    }

    fn accessor(&self, name: &str, aggregate: &Aggregate, flat: &Flat) -> String {
        let field = flat.field;
        let ty = self.field_type(field, &inner_of(name, aggregate, field).unwrap_or_default());
        let at = format!("{:#04x}", flat.offset);
        let (read, write) = match field.bits {
            None => (format!("runtime::read(self, {at})"), format!("runtime::write(self, {at}, value)")),
            Some(bits) => {
                let unit = format!("{at}, {}, {}, {}", field.size, bits.position, bits.width);
                // The runtime passes bits as 64-bit integers.
                let (read, wide) = match &field.ty {
                    Type::Scalar { signed: true, .. } => ("signed_bits", "i64"),
                    Type::Layout(_) => ("signed_bits", "an enumeration"),
                    _ => ("bits", "u64"),
                };
                let read = format!("runtime::{read}(self, {unit})");
                let read = match &field.ty {
                    Type::Layout(id) => format!("{}({read} as _)", self.type_name(*id)),
                    _ if ty == wide => read,
                    _ => format!("{read} as {ty}"),
                };
                let value = match &field.ty {
                    Type::Layout(_) => "value.0 as u64",
                    _ if ty == "u64" => "value",
                    _ => "value as u64",
                };
                (read, format!("runtime::set_bits(self, {unit}, {value})"))
            }
        };
        let (doc, get, plain) = (self.member_doc(field, flat.offset), member(flat.name), flat.name);
        format!(
            "{doc}    #[inline]\n    pub fn {get}(&self) -> {ty} {{\n        {read}\n    }}\n\n    \
             /// Replaces [`{plain}`](Self::{plain}()).\n    #[inline]\n    pub fn set_{plain}(&mut self, value: {ty}) {{\n        {write}\n    }}\n"
        )
    }
}

/// The doc comment of an unnamed member.
fn unnamed_doc(field: &Field) -> String {
    let errata = field.info.errata.iter().map(|erratum| format!("\nErratum, {erratum}.\n"));
    comment(&format!("`{:#04x}`: unnamed; its members have accessors.\n{}", field.offset, errata.collect::<String>()), "    ")
}

/// The name of the unnamed type of a member, however deep it lies.
fn inner_of(name: &str, aggregate: &Aggregate, wanted: &Field) -> Option<String> {
    let names = unnamed(&aggregate.fields);
    aggregate.fields.iter().zip(&names).find_map(|(field, field_name)| {
        let own = inner_name(name, field_name);
        match (&field.name, &field.ty) {
            _ if core::ptr::eq(field, wanted) => Some(own),
            (None, Type::Inline(inner)) => inner_of(&own, inner, wanted),
            _ => None,
        }
    })
}

/// What a type is known by.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shown<'a> {
    /// Microsoft's name of the structure.
    Structure(&'a str),
    /// The member that is of this unnamed type.
    Member(&'a str),
    /// No name at all: the members are those of the parent.
    Nothing,
}

/// A field of a Rust type.
struct Row {
    name: String,
    ty: String,
    offset: u64,
    doc: String,
}

impl Row {
    fn padding(offset: u64, size: u64) -> Self {
        Self { name: format!("_padding{offset:02X}"), ty: format!("[u8; {size}]"), offset, doc: "    /// Padding.\n".into() }
    }
}
