//! Definitions for dissect.cstruct, a Python parser of structures.
//!
//! It does not align members, so all padding is declared. A pointer to a type that is not declared before becomes `VOID *`, with
//! its type in a comment. Bit fields are unsigned, and have the size of their unit. A structure or union within another one in a
//! union becomes an array of one element, because version 4.7 fails to create values of types that are nested so deep.

use super::Notes;
use super::order::{is_macros, keyword, ordered};
use super::padded::{FreeNames, Item, padded};
use crate::axis::TargetId;
use crate::ctype::{CType, Length};
use crate::layouts::{Aggregate, Enumeration, Field, Form, LayoutId, Layouts, Type};
use crate::spec::{Kind, Scalar};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Writes the definitions of a target: all types, or one type and the types that it needs, with notes.
pub fn definitions(layouts: &Layouts, target: TargetId, only: Option<&str>, notes: &Notes) -> String {
    let mut writer = Writer { layouts, target, declared: BTreeSet::new(), nested: BTreeSet::new(), out: String::new() };
    let axis = &layouts.spec.axis;
    let pointer = axis.targets[target].arch.pointer_size() * 8;
    let _ = writeln!(
        writer.out,
        "/* {}: load it with cstruct(pointer=\"uint{pointer}\").loadfile(path). A comment after a VOID * names the type it \
         points to, which is not declared above. Unions within unions are written as arrays of one element. */\n",
        axis.target_name(target)
    );
    for (name, scalar) in &layouts.spec.scalars {
        let _ = writeln!(writer.out, "typedef {} {name};", basic(name, scalar));
        writer.declared.insert(name);
    }
    let mut known = BTreeSet::new();
    for layout in ordered(layouts, target, only) {
        match &layout.form {
            Form::Aggregate(aggregate) => writer.structure(&layout.name, aggregate, notes),
            Form::Enumeration(set) if is_macros(layouts, layout) => {
                let _ = writeln!(writer.out, "\n/* {} */", layout.name);
                for (name, value) in layouts.macros(target, &layout.name).filter(|(name, _)| known.insert(*name)) {
                    let _ = writeln!(writer.out, "#define {name} {}", literal(value, set));
                }
            }
            Form::Enumeration(enumeration) => writer.enumeration(&layout.name, enumeration, notes),
        }
    }
    writer.out
}

/// The place of members.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of unions.
    Outside,
    /// In a union.
    Union,
    /// In a structure or union that is a member of a union.
    Below,
}

struct Writer<'a> {
    layouts: &'a Layouts,
    target: TargetId,
    /// Types that are already declared.
    declared: BTreeSet<&'a str>,
    /// Types with structures or unions as members.
    nested: BTreeSet<&'a str>,
    out: String,
}

impl<'a> Writer<'a> {
    fn structure(&mut self, name: &'a str, aggregate: &'a Aggregate, notes: &Notes) {
        aggregate.ctypes().into_iter().for_each(|ctype| self.typedefs(ctype.base()));
        // A structure can contain pointers to itself.
        self.declared.insert(name);
        let _ = writeln!(self.out, "\n{}{} {name} {{", noted(name, notes), keyword(aggregate.kind));
        self.fields(aggregate, 1, Place::Outside, &mut FreeNames::of(aggregate));
        self.out.push_str("};\n");
        if self.is_nested(aggregate) {
            self.nested.insert(name);
        }
    }

    fn enumeration(&mut self, name: &'a str, enumeration: &Enumeration, notes: &Notes) {
        let sign = if enumeration.signed { "int" } else { "uint" };
        let _ = writeln!(self.out, "\n{}enum {name} : {sign}{} {{", noted(name, notes), enumeration.size * 8);
        for (constant, value) in &enumeration.constants {
            let _ = writeln!(self.out, "    {constant} = {value},");
        }
        self.out.push_str("};\n");
        self.declared.insert(name);
    }

    /// Declares the typedefs behind a name.
    fn typedefs(&mut self, name: &'a str) {
        let piece = self.layouts.spec.typedefs.get(name).and_then(|typedef| typedef.get(self.target));
        if let Some(piece) = piece.filter(|_| !self.declared.contains(name)) {
            self.typedefs(piece.value.base());
            let declared = self.declared(&piece.value, name);
            let _ = writeln!(self.out, "typedef {declared}");
            self.declared.insert(name);
        }
    }

    fn fields(&mut self, aggregate: &Aggregate, depth: usize, place: Place, free: &mut FreeNames) {
        let indent = "    ".repeat(depth);
        let place = if place == Place::Outside && aggregate.kind == Kind::Union { Place::Union } else { place };
        for item in padded(aggregate) {
            match item {
                Item::Field(field) if aggregate.kind == Kind::Union && field.bits.is_some() => {
                    // In cstruct, only structures can have bit fields.
                    let _ = writeln!(self.out, "{indent}struct {{");
                    self.field(field, depth + 1, place, free);
                    let rest = field.bits.map_or(0, |bits| (field.size * 8).saturating_sub(bits.width));
                    if rest > 0 {
                        let _ = writeln!(self.out, "{indent}    uint{} {} : {rest};", field.size * 8, free.next("padding"));
                    }
                    let declared = if place == Place::Below { format!(" {}[1]", free.next("unnamed")) } else { String::new() };
                    let _ = writeln!(self.out, "{indent}}}{declared};");
                }
                Item::Field(field) => self.field(field, depth, place, free),
                Item::Bytes(count) => {
                    let _ = writeln!(self.out, "{indent}uint8 {}[{count}];", free.next("padding"));
                }
                Item::Bits { size, width } => {
                    let _ = writeln!(self.out, "{indent}uint{} {} : {width};", size * 8, free.next("padding"));
                }
            }
        }
    }

    fn field(&mut self, field: &Field, depth: usize, place: Place, free: &mut FreeNames) {
        let indent = "    ".repeat(depth);
        let name = field.name.as_deref();
        match (&field.ty, &field.ctype, field.bits) {
            (Type::Inline(inner), ..) => {
                let _ = writeln!(self.out, "{indent}{} {{", keyword(inner.kind));
                let is_array = place == Place::Below;
                let below = if place == Place::Union { Place::Below } else { Place::Outside };
                self.fields(inner, depth + 1, below, free);
                let declared = match (name, is_array) {
                    (Some(name), true) => format!(" {name}[1]"),
                    (None, true) => format!(" {}[1]", free.next("unnamed")),
                    (Some(name), false) => format!(" {name}"),
                    (None, false) => String::new(),
                };
                let _ = writeln!(self.out, "{indent}}}{declared};");
            }
            (.., Some(bits)) => {
                let name = name.map_or_else(|| free.next("padding"), str::to_owned);
                let _ = writeln!(self.out, "{indent}uint{} {name} : {};", field.size * 8, bits.width);
            }
            (Type::Layout(id), Some(ctype), None) if self.is_array(*id, place) => {
                let declared = self.declared(ctype, &format!("{}[1]", name.unwrap_or_default()));
                let _ = writeln!(self.out, "{indent}{declared}");
            }
            (_, Some(ctype), None) => {
                let declared = self.declared(ctype, name.unwrap_or_default());
                let _ = writeln!(self.out, "{indent}{declared}");
            }
            (_, None, None) => {}
        }
    }

    /// Whether any member is a structure or union.
    fn is_nested(&self, aggregate: &Aggregate) -> bool {
        aggregate.fields.iter().any(|field| match &field.ty {
            Type::Inline(_) => true,
            Type::Layout(id) => matches!(self.layouts.layouts[*id].form, Form::Aggregate(_)),
            _ => aggregate.kind == Kind::Union && field.bits.is_some(),
        })
    }

    /// Whether a member of a type with its own layout is written as an array of one element.
    fn is_array(&self, id: LayoutId, place: Place) -> bool {
        let layout = &self.layouts.layouts[id];
        match place {
            Place::Outside => false,
            Place::Union => self.nested.contains(layout.name.as_str()),
            Place::Below => matches!(layout.form, Form::Aggregate(_)),
        }
    }

    /// A declaration. If it becomes `VOID *`, a comment has the type.
    fn declared(&self, ctype: &CType, name: &str) -> String {
        let mut lengths = String::new();
        let mut element = ctype;
        while let CType::Array { of, length } = element {
            let count = match length {
                Length::Count(count) => *count,
                Length::AnySize => 1,
                Length::Flexible => 0,
            };
            lengths += &format!("[{count}]");
            element = of;
        }
        let mut stars = String::new();
        let mut pointee = element;
        while let CType::Pointer { to, .. } = pointee {
            stars.push('*');
            pointee = to;
        }
        match pointee {
            CType::Name { name: base, .. } if stars.is_empty() || self.declared.contains(base.as_str()) => {
                format!("{base} {stars}{name}{lengths};")
            }
            _ => format!("VOID *{name}{lengths}; /* {element} */"),
        }
    }
}

fn noted(name: &str, notes: &Notes) -> String {
    notes.get(name).map(|note| format!("/* {name}: {note}. */\n")).unwrap_or_default()
}

/// The name of a scalar in cstruct. Character types stay characters, because they are not numbers.
fn basic(name: &str, scalar: &Scalar) -> String {
    match (name, scalar.size, scalar.c.as_str()) {
        (_, 0, _) => "void".to_owned(),
        (_, _, "char") => "char".to_owned(),
        ("WCHAR", 2, _) => "wchar".to_owned(),
        (_, size, _) if scalar.signed => format!("int{}", size * 8),
        (_, size, _) => format!("uint{}", size * 8),
    }
}

fn literal(value: i64, set: &Enumeration) -> String {
    match (set.signed, set.size) {
        (true, _) => value.to_string(),
        (false, 8..) => format!("{:#x}", value as u64),
        (false, size) => format!("{:#x}", value as u64 & ((1 << (size * 8)) - 1)),
    }
}
