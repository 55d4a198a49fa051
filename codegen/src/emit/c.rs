//! A C header for one target: declarations as the spec has them, and assertions that a compiler checks.
//!
//! No padding is declared, and no packing or alignment beyond what the spec states, so a compiler that agrees has computed
//! the same offsets on its own.

use crate::ctype::CType;
use crate::layouts::{Aggregate, Enumeration, Field, Form, LayoutId, Layouts, Type};
use crate::spec::{Body, Kind, ValuesKind};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Writes the header of a target, by its index.
pub fn header(layouts: &Layouts, target: usize) -> String {
    header_of(layouts, target, layouts.by_target[target].keys().map(String::as_str))
}

/// Writes the header of a target, by its index: these types, and what they embed.
pub fn header_of<'a>(layouts: &'a Layouts, target: usize, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut writer = Writer { layouts, target, done: BTreeSet::new(), out: String::new() };
    let name = layouts.spec.axis.target_name(target);
    let _ = write!(
        writer.out,
        "/* {name}: declarations of the specs, and assertions for the Microsoft C ABI. */\n#define ANYSIZE_ARRAY 1\n\n"
    );
    for (name, scalar) in &layouts.spec.scalars {
        let _ = writeln!(writer.out, "typedef {} {name};", scalar.c);
    }
    for name in names {
        if let Some(&id) = layouts.by_target[target].get(name).filter(|_| !writer.is_macros(name)) {
            writer.layout(id);
        }
    }
    writer.out
}

struct Writer<'a> {
    layouts: &'a Layouts,
    target: usize,
    /// Names that are declared.
    done: BTreeSet<&'a str>,
    out: String,
}

impl<'a> Writer<'a> {
    fn is_macros(&self, name: &str) -> bool {
        let definition = self.layouts.spec.definitions.get(name);
        definition.is_some_and(|d| matches!(&d.body, Body::Values(v) if v.kind != ValuesKind::Enum))
    }

    /// Declares a layout, after all that it embeds or names.
    fn layout(&mut self, id: LayoutId) {
        let layout = &self.layouts.layouts[id];
        if !self.done.insert(&layout.name) {
            return;
        }
        match &layout.form {
            Form::Aggregate(aggregate) => {
                let _ = write!(self.out, "\ntypedef {0} _{1} {1};\n", keyword(aggregate.kind), layout.name);
                self.needs(aggregate);
                self.aggregate(&layout.name, aggregate);
            }
            Form::Enumeration(enumeration) => self.enumeration(&layout.name, enumeration),
        }
    }

    fn needs(&mut self, aggregate: &'a Aggregate) {
        for field in &aggregate.fields {
            if let Some(ctype) = &field.ctype {
                self.names(ctype, false);
            }
            if let Type::Inline(inner) = &field.ty {
                self.needs(inner);
            }
        }
    }

    /// Declares the names in a type; behind a pointer a declaration without contents will do.
    fn names(&mut self, ctype: &'a CType, behind: bool) {
        match ctype {
            CType::Pointer { to, .. } => self.names(to, true),
            CType::Array { of, .. } => self.names(of, behind),
            CType::Function { returns, parameters } => {
                self.names(returns, true);
                parameters.iter().for_each(|parameter| self.names(parameter, true));
            }
            CType::Name { name, .. } => self.name(name, behind),
        }
    }

    fn name(&mut self, name: &'a str, behind: bool) {
        let spec = &self.layouts.spec;
        let id = self.layouts.by_target[self.target].get(name).copied();
        if spec.scalars.contains_key(name) {
            return;
        }
        if let Some(piece) = spec.typedefs.get(name).and_then(|typedef| typedef.get(self.target)) {
            if self.done.insert(name) {
                self.names(&piece.value, behind);
                let _ = writeln!(self.out, "typedef {};", piece.value.declare(name));
            }
            return;
        }
        match id.map(|id| (id, &self.layouts.layouts[id].form)) {
            Some((id, Form::Enumeration(_))) => self.layout(id),
            Some((id, _)) if !behind => self.layout(id),
            // Repeating a typedef is allowed, so what is only pointed to needs no record.
            Some((_, Form::Aggregate(aggregate))) => {
                let _ = writeln!(self.out, "typedef {0} _{name} {name};", keyword(aggregate.kind));
            }
            None => {
                let _ = writeln!(self.out, "typedef struct _{name} {name};");
            }
        }
    }

    fn aggregate(&mut self, name: &str, aggregate: &Aggregate) {
        let (size, align) = (aggregate.extent.size, aggregate.extent.align);
        if let Some(pack) = aggregate.pack {
            let _ = writeln!(self.out, "#pragma pack(push, {pack})");
        }
        let _ = writeln!(self.out, "{}{} _{name} {{", keyword(aggregate.kind), declspec(aggregate.align));
        fields(aggregate, 1, &mut self.out);
        self.out.push_str("};\n");
        if aggregate.pack.is_some() {
            self.out.push_str("#pragma pack(pop)\n");
        }
        let _ = writeln!(self.out, "_Static_assert(sizeof({name}) == {size:#x}, \"size of {name}\");");
        let _ = writeln!(self.out, "_Static_assert(_Alignof({name}) == {align}, \"alignment of {name}\");");
        self.offsets(name, "", aggregate);
    }

    /// Assertions for the offsets of all members that have a name; bit fields have no address.
    fn offsets(&mut self, name: &str, path: &str, aggregate: &Aggregate) {
        for flat in aggregate.flat().iter().filter(|flat| flat.field.bits.is_none()) {
            let member = format!("{path}{}", flat.name);
            let offset = format!("__builtin_offsetof({name}, {member})");
            let start = if path.is_empty() {
                String::new()
            } else {
                format!(" - __builtin_offsetof({name}, {})", path.trim_end_matches('.'))
            };
            let _ = writeln!(self.out, "_Static_assert({offset}{start} == {:#x}, \"{name}.{member}\");", flat.offset);
            if let Type::Inline(inner) = &flat.field.ty {
                self.offsets(name, &format!("{member}."), inner);
            }
        }
    }

    fn enumeration(&mut self, name: &str, enumeration: &Enumeration) {
        // The C language has no enumeration of another size.
        let (open, close) = match enumeration.size {
            4 => (format!("typedef enum _{name}"), format!(" {name}")),
            _ => (format!("typedef {} {name};\nenum", enumeration.c), String::new()),
        };
        let _ = writeln!(self.out, "\n{open} {{");
        for (constant, value) in &enumeration.constants {
            let _ = writeln!(self.out, "    {constant} = {value},");
        }
        let _ = writeln!(self.out, "}}{close};\n_Static_assert(sizeof({name}) == {:#x}, \"size of {name}\");", enumeration.size);
    }
}

fn fields(aggregate: &Aggregate, depth: usize, out: &mut String) {
    let indent = "    ".repeat(depth);
    for field in &aggregate.fields {
        let name = field.name.as_deref().unwrap_or_default();
        match (&field.ty, &field.ctype) {
            (Type::Inline(inner), _) => {
                let _ = writeln!(out, "{indent}{}{} {{", keyword(inner.kind), declspec(inner.align));
                fields(inner, depth + 1, out);
                let gap = if name.is_empty() { "" } else { " " };
                let _ = writeln!(out, "{indent}}}{gap}{name};");
            }
            (_, Some(ctype)) => {
                let align = declspec(field.align);
                let gap = if align.is_empty() { "" } else { " " };
                let _ = writeln!(out, "{indent}{}{gap}{}{};", align.trim_start(), ctype.declare(name), width(field));
            }
            (_, None) => {}
        }
    }
}

fn width(field: &Field) -> String {
    field.bits.map(|bits| format!(" : {}", bits.width)).unwrap_or_default()
}

fn keyword(kind: Kind) -> &'static str {
    match kind {
        Kind::Struct => "struct",
        Kind::Union => "union",
    }
}

fn declspec(align: Option<u64>) -> String {
    align.map(|align| format!(" __declspec(align({align}))")).unwrap_or_default()
}
