//! Structures and unions: an invocation of `structure!` for each structure, with its layouts and their unnamed parts.

use super::Emitter;
use super::docs::{braced, literal, quoted};
use super::members::{MemberId, Members};
use super::names::{Taken, join, member, unnamed};
use crate::layouts::{Aggregate, Field, Form, LayoutId, Type};
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
}

/// A Rust type.
struct Defined {
    /// Its start, up to the list of fields.
    head: String,
    fields: Vec<Row>,
}

/// A field of a Rust type.
struct Row {
    offset: u64,
    name: String,
    content: Content,
}

enum Content {
    /// A member in C.
    Member(MemberId),
    /// A Rust type without a member in C, and the parts that accessors reach: offset from the start of the whole type, and member. `None` in an
    /// unnamed part, which has no accessors.
    Own(String, Option<Vec<(u64, MemberId)>>),
}

impl Emitter<'_> {
    /// Writes the types of all layouts of a structure, and those of their unnamed parts; nothing for an enumeration.
    pub(super) fn structure(&self, name: &str, ids: &[LayoutId], out: &mut String) {
        let (mut members, mut types, mut written) = (Members::default(), Vec::new(), BTreeSet::new());
        for &id in ids {
            let layout = &self.layouts.layouts[id];
            let Form::Aggregate(aggregate) = &layout.form else { continue };
            let whole = Whole { structure: name, path: "", aggregate };
            types.push(self.define(self.type_name(id), "", &self.since(&layout.targets), true, whole, &mut members));
            self.parts(whole, &mut written, &mut members, &mut types);
        }
        if types.is_empty() {
            return;
        }
        let doc = literal(&self.layouts.spec.definitions[name].doc);
        let _ = write!(out, "\nruntime::structure! {{\n    $ {}: {doc} {{\n{}    }}\n", member(name), members.text());
        for Defined { head, fields } in types {
            let fields: Vec<_> = fields.iter().map(|row| row.text(&members)).collect();
            // A long list of accessors also continues on the next line.
            let parts: Vec<_> = fields.join(", ").split(", ").map(str::to_owned).collect();
            let _ = writeln!(out, "{}", braced(&format!("{head} "), &parts, 4));
        }
        out.push_str("}\n");
    }

    /// Writes the types of the unnamed parts of a type that are not yet `written` for an earlier layout of the structure.
    fn parts(&self, whole: Whole, written: &mut BTreeSet<String>, members: &mut Members, types: &mut Vec<Defined>) {
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
                Some(name) => format!("The {sort} that is `{name}` of `{}`.", whole.structure),
                None if whole.path.is_empty() => format!("The unnamed {sort} at {:#04x} of `{}`.", field.offset, whole.structure),
                None => format!("The unnamed {sort} at {:#04x} of `{}` in `{}`.", field.offset, whole.path, whole.structure),
            };
            let shown = field.name.as_ref().map(|_| join(part.structure, part.path));
            let shown_as = format!(" = {}", shown.as_deref().unwrap_or("_"));
            types.push(self.define(ty, &shown_as, &doc, shown.is_some(), part, members));
            self.parts(part, written, members, types);
        }
    }

    /// A type `is_described` unless it is an unnamed part, whose members belong to the enclosing type.
    fn define(&self, name: &str, shown: &str, doc: &str, is_described: bool, whole: Whole, members: &mut Members) -> Defined {
        let (kind, fields) = match whole.aggregate.kind {
            Kind::Struct => ("struct", self.members(whole, is_described, members)),
            Kind::Union => ("union", self.branches(whole, is_described, members)),
        };
        let (size, align) = (whole.aggregate.extent.size, whole.aggregate.extent.align);
        Defined { head: format!("pub {kind} {name}{shown}: {}, {size:#x}, {align}", quoted(doc)), fields }
    }

    /// The members of a structure. Bit fields are combined by unit, and padding is explicit.
    fn members(&self, whole: Whole, is_described: bool, members: &mut Members) -> Vec<Row> {
        let Aggregate { fields, extent, .. } = whole.aggregate;
        let names = unnamed(fields);
        let mut taken = Taken::of(names.clone());
        let mut setters = self.setters(whole);
        let mut rows: Vec<Row> = Vec::new();
        let mut end = 0;
        for (field, name) in fields.iter().zip(&names) {
            if field.bits.is_some_and(|bits| bits.width == 0) {
                continue;
            }
            let mut within = || is_described.then(|| self.within(whole, field, name, 0, &mut setters, members));
            if let (true, Some(unit)) = (field.bits.is_some() && field.offset < end, rows.last_mut()) {
                if let (Content::Own(_, Some(all)), Some(more)) = (&mut unit.content, within()) {
                    all.extend(more);
                }
                continue;
            }
            if field.offset > end {
                rows.push(Row::padding(end, field.offset - end, &mut taken));
            }
            let align = self.align(&field.ty);
            let fits = field.offset.is_multiple_of(align) && align <= extent.align;
            let ty = self.row_type(whole, field, name, (!fits).then_some(field.size));
            rows.push(if field.bits.is_some() || field.name.is_none() {
                let name = if field.bits.is_some() { taken.free(format!("bits{:02X}", field.offset)) } else { name.clone() };
                Row { offset: field.offset, name, content: Content::Own(ty, within()) }
            } else {
                Row { offset: field.offset, name: name.clone(), content: Content::Member(members.field(name, field, ty)) }
            });
            end = field.offset + field.size;
        }
        if extent.size > end {
            rows.push(Row::padding(end, extent.size - end, &mut taken));
        }
        rows
    }

    /// The branches of a union, each with the size of the union. If the union is described, accessors reach them.
    fn branches(&self, whole: Whole, is_described: bool, members: &mut Members) -> Vec<Row> {
        let Aggregate { fields, extent, .. } = whole.aggregate;
        let names = unnamed(fields);
        let mut taken = Taken::of(names.clone());
        let mut setters = self.setters(whole);
        let mut rows = Vec::new();
        for (field, name) in fields.iter().zip(&names).filter(|(field, _)| field.bits.is_none_or(|bits| bits.width > 0)) {
            let fills = field.size == extent.size && self.align(&field.ty) <= extent.align;
            let ty = self.row_type(whole, field, name, (!fills).then_some(extent.size));
            let row = if field.bits.is_some() { taken.free(format!("bits{:02X}", field.offset)) } else { name.clone() };
            let content = match is_described {
                true => Content::Own(ty, Some(self.within(whole, field, name, 0, &mut setters, members))),
                false if field.bits.is_some() || field.name.is_none() => Content::Own(ty, None),
                false => Content::Member(members.field(name, field, ty)),
            };
            rows.push(Row { offset: field.offset, name: row, content });
        }
        rows
    }

    /// The Rust type of a field. If the member does not fill its branch, `within` is the number of bytes of the branch, which begins with the
    /// member.
    fn row_type(&self, whole: Whole, field: &Field, name: &str, within: Option<u64>) -> String {
        let ty = self.field_type(field, &self.inner(whole, field, name));
        within.map(|size| format!("runtime::Bytes<{ty}, {size}>")).unwrap_or(ty)
    }

    /// The parts that accessors reach: the member, or for an unnamed member, the members in it. `base` is the offset of the
    /// enclosing part.
    fn within(
        &self,
        whole: Whole,
        field: &Field,
        name: &str,
        base: u64,
        setters: &mut Taken,
        members: &mut Members,
    ) -> Vec<(u64, MemberId)> {
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
                Some((first, last)) if first == last => format!(" [{first}{unit}]"),
                Some((first, last)) => format!(" [{first} to {last}{unit}]"),
                None => String::new(),
            };
            let setter = setters.free(format!("set_{}", name.trim_start_matches("r#")));
            return vec![(offset, members.accessed(name, field, ty, setter + &bits))];
        }
        let Type::Inline(aggregate) = &field.ty else { return Vec::new() };
        let path = join(whole.path, name);
        let whole = Whole { path: &path, aggregate, ..whole };
        let names = unnamed(&aggregate.fields);
        let fields = aggregate.fields.iter().zip(&names);
        fields.flat_map(|(field, name)| self.within(whole, field, name, offset, setters, members)).collect()
    }

    /// The names of all functions of a type that read a member, which no function that replaces one can have.
    fn setters(&self, whole: Whole) -> Taken {
        Taken::of(whole.aggregate.flat().iter().map(|flat| member(flat.name)))
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

impl Row {
    fn padding(offset: u64, size: u64, taken: &mut Taken) -> Self {
        let name = taken.free(format!("_padding{offset:02X}"));
        Self { offset, name, content: Content::Own(format!("[u8; {size}]"), None) }
    }

    fn text(&self, members: &Members) -> String {
        let Self { offset, name, content } = self;
        match content {
            Content::Member(id) => format!("{offset:#04x} {name} {}", members.letter(*id)),
            Content::Own(ty, None) => format!("{offset:#04x} {name}: {ty}"),
            Content::Own(ty, Some(within)) => {
                let within =
                    within.iter().map(|(offset, id)| format!("{offset:#04x} {} {}", members.name(*id), members.letter(*id)));
                format!("{offset:#04x} {name}: {ty} {{ {} }}", within.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
