//! Structures and unions: an invocation of `layout!` for each, and for each of their unnamed parts.

use super::Emitter;
use super::docs::{Texts, indented, literal, quoted};
use super::names::{Taken, join, unnamed};
use crate::layouts::{Aggregate, Field, LayoutId, Type};
use crate::spec::Kind;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A type to write: a layout, or an unnamed part of one.
#[derive(Clone, Copy)]
struct Whole<'a> {
    /// The name of the structure that has the layout.
    structure: &'a str,
    /// The path of the part: the names of members; empty for the layout itself.
    path: &'a str,
    aggregate: &'a Aggregate,
    /// The texts about the members of the structure.
    texts: &'a Texts,
}

impl Emitter<'_> {
    /// Writes the type of a layout, and those of its unnamed parts that are not yet `written` for an earlier layout of the
    /// structure.
    pub(super) fn aggregate(
        &self,
        id: LayoutId,
        aggregate: &Aggregate,
        texts: &Texts,
        written: &mut BTreeSet<String>,
        out: &mut String,
    ) {
        let whole = Whole { structure: &self.layouts.layouts[id].name, path: "", aggregate, texts };
        self.define(self.type_name(id), &self.layout_doc(id, aggregate), Some(whole.structure), whole, out);
        self.parts(whole, written, out);
    }

    /// Writes the types of the unnamed parts of a type.
    fn parts(&self, whole: Whole, written: &mut BTreeSet<String>, out: &mut String) {
        let fields = &whole.aggregate.fields;
        for (field, name) in fields.iter().zip(unnamed(fields)) {
            let Type::Inline(aggregate) = field.ty.element() else { continue };
            let path = join(whole.path, &name);
            let part = Whole { path: &path, aggregate, ..whole };
            let ty = self.part_name(part.structure, part.path, part.aggregate);
            if !written.insert(ty.to_owned()) {
                continue;
            }
            let sort = match aggregate.kind {
                Kind::Struct => "structure",
                Kind::Union => "union",
            };
            let doc = match &field.name {
                Some(name) => format!("/// The {sort} that is `{name}` of `{}`.\n", whole.structure),
                None if whole.path.is_empty() => {
                    format!("/// The unnamed {sort} at {:#04x} of `{}`.\n", field.offset, whole.structure)
                }
                None => {
                    format!("/// The unnamed {sort} at {:#04x} of `{}` in `{}`.\n", field.offset, whole.path, whole.structure)
                }
            };
            let of = field.name.as_ref().map(|_| join(part.structure, part.path));
            self.define(ty, &doc, of.as_deref(), part, out);
            self.parts(part, written, out);
        }
    }

    /// `shown` is the name for `Debug`; `None` for an unnamed part, whose members belong to the enclosing type.
    fn define(&self, name: &str, doc: &str, shown: Option<&str>, whole: Whole, out: &mut String) {
        let (kind, rows) = match whole.aggregate.kind {
            Kind::Struct => ("struct", self.members(whole)),
            Kind::Union => ("union", self.branches(whole, shown.is_some())),
        };
        let (size, align) = (whole.aggregate.extent.size, whole.aggregate.extent.align);
        let described = shown.map(|shown| format!("{shown}, ")).unwrap_or_default();
        let _ = write!(out, "\nruntime::layout! {{\n{}", indented(doc));
        let _ = writeln!(out, "    pub {kind} {name}: {described}{size:#x}, {align} {{");
        let mut setters = Taken::of(rows.iter().flat_map(|row| &row.within).map(|part| part.name.clone()));
        for row in rows {
            let Row { offset, name, ty, c, doc, within } = row;
            let c = c.map(|c| format!(" = {}", quoted(&c))).unwrap_or_default();
            let _ = write!(out, "        {offset:#04x} {name}: {ty}{c}, {doc}");
            if shown.is_none() || within.is_empty() {
                out.push_str(";\n");
                continue;
            }
            out.push_str(" {\n");
            for part in within {
                let Part { offset, bits, name, ty, c, doc } = part;
                let setter = setters.free(format!("set_{}", name.trim_start_matches("r#")));
                let _ = writeln!(out, "            {offset:#04x} {bits}{name} {setter}: {ty} = {}, {doc};", quoted(&c));
            }
            out.push_str("        }\n");
        }
        out.push_str("    }\n}\n");
    }

    /// The members of a structure. Bit fields are combined by unit, and padding is explicit.
    fn members(&self, whole: Whole) -> Vec<Row> {
        let Aggregate { fields, extent, .. } = whole.aggregate;
        let names = unnamed(fields);
        let mut taken = Taken::of(names.clone());
        let mut rows: Vec<Row> = Vec::new();
        let mut end = 0;
        for (field, name) in fields.iter().zip(&names) {
            if field.bits.is_some_and(|bits| bits.width == 0) {
                continue;
            }
            if let (true, Some(unit)) = (field.bits.is_some() && field.offset < end, rows.last_mut()) {
                unit.within.extend(self.within(whole, field, name, 0));
                continue;
            }
            if field.offset > end {
                rows.push(Row::padding(end, field.offset - end, &mut taken));
            }
            let align = self.align(&field.ty);
            let fits = field.offset.is_multiple_of(align) && align <= extent.align;
            let mut row = self.row(whole, field, name, (!fits).then_some(field.size), &mut taken);
            if field.bits.is_some() || field.name.is_none() {
                row.within = self.within(whole, field, name, 0);
            }
            rows.push(row);
            end = field.offset + field.size;
        }
        if extent.size > end {
            rows.push(Row::padding(end, extent.size - end, &mut taken));
        }
        rows
    }

    /// The branches of a union, each with the size of the union. If the union is `described`, accessors describe them.
    fn branches(&self, whole: Whole, described: bool) -> Vec<Row> {
        let Aggregate { fields, extent, .. } = whole.aggregate;
        let names = unnamed(fields);
        let mut taken = Taken::of(names.clone());
        let mut rows = Vec::new();
        for (field, name) in fields.iter().zip(&names).filter(|(field, _)| field.bits.is_none_or(|bits| bits.width > 0)) {
            let fills = field.size == extent.size && self.align(&field.ty) <= extent.align;
            let mut row = self.row(whole, field, name, (!fills).then_some(extent.size), &mut taken);
            row.within = self.within(whole, field, name, 0);
            row.c = row.c.filter(|_| !described);
            rows.push(row);
        }
        rows
    }

    /// If the member does not fill its branch, `within` is the number of bytes of the branch, which begins with the member.
    fn row(&self, whole: Whole, field: &Field, name: &str, within: Option<u64>, taken: &mut Taken) -> Row {
        let ty = self.field_type(field, &self.inner(whole, field, name));
        let ty = within.map(|size| format!("runtime::Bytes<{ty}, {size}>")).unwrap_or(ty);
        let offset = field.offset;
        let (name, c, doc) = match (field.bits, &field.name) {
            (Some(_), _) => (taken.free(format!("bits{offset:02X}")), None, literal("bit fields, which have accessors.")),
            (None, Some(_)) => (name.to_owned(), Some(spelled(field)), whole.texts.of(field)),
            (None, None) => (name.to_owned(), None, literal("unnamed; its members have accessors.")),
        };
        Row { offset, name, ty, c, doc, within: Vec::new() }
    }

    /// The parts that accessors reach: the member, or for an unnamed member, the members in it. `base` is the offset of the
    /// enclosing part.
    fn within(&self, whole: Whole, field: &Field, name: &str, base: u64) -> Vec<Part> {
        let offset = base + field.offset;
        if field.name.is_some() {
            let ty = self.field_type(field, &self.inner(whole, field, name));
            let holds = |values: &str, width: u64| {
                self.layouts.layouts.iter().any(|layout| layout.name == values && layout.extent().size * 8 >= width)
            };
            let (ty, unit) = match (&field.values, &field.ty, field.bits) {
                (Some(values), Type::Scalar { .. }, Some(bits)) if holds(values, bits.width) => {
                    (values.clone(), format!(" in {ty}"))
                }
                _ => (ty, String::new()),
            };
            let bits = match field.bits.map(|bits| (bits.position, bits.position + bits.width.max(1) - 1)) {
                Some((first, last)) if first == last => format!("[{first}{unit}] "),
                Some((first, last)) => format!("[{first} to {last}{unit}] "),
                None => String::new(),
            };
            return vec![Part { offset, bits, name: name.to_owned(), ty, c: spelled(field), doc: whole.texts.of(field) }];
        }
        let Type::Inline(aggregate) = &field.ty else { return Vec::new() };
        let path = join(whole.path, name);
        let whole = Whole { path: &path, aggregate, ..whole };
        let names = unnamed(&aggregate.fields);
        let fields = aggregate.fields.iter().zip(&names);
        fields.flat_map(|(field, name)| self.within(whole, field, name, offset)).collect()
    }

    /// The name of the unnamed type of a member; empty if its type has a name.
    fn inner(&self, whole: Whole, field: &Field, name: &str) -> String {
        match field.ty.element() {
            Type::Inline(aggregate) => self.part_name(whole.structure, &join(whole.path, name), aggregate).to_owned(),
            _ => String::new(),
        }
    }
}

/// The type in C, without its members.
pub fn spelled(field: &Field) -> String {
    match (&field.ctype, field.ty.element()) {
        (Some(c), _) => c.to_string(),
        (None, Type::Inline(aggregate)) if aggregate.kind == Kind::Union => "union".into(),
        (None, _) => "struct".into(),
    }
}

/// A field of a Rust type.
struct Row {
    offset: u64,
    name: String,
    ty: String,
    /// The type in C, if the member has a name in C.
    c: Option<String>,
    /// The expression of the doc comment.
    doc: String,
    /// The parts that accessors reach.
    within: Vec<Part>,
}

/// A part that an accessor reaches.
struct Part {
    /// Bytes from the start of the whole type.
    offset: u64,
    bits: String,
    name: String,
    ty: String,
    c: String,
    doc: String,
}

impl Row {
    fn padding(offset: u64, size: u64, taken: &mut Taken) -> Self {
        let name = taken.free(format!("_padding{offset:02X}"));
        Self { offset, name, ty: format!("[u8; {size}]"), c: None, doc: literal("padding."), within: Vec::new() }
    }
}
