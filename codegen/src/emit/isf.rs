//! A symbol table for Volatility 3 (Intermediate Symbol Format 6.2.0): the types of one target, and the global variables of one
//! build, if one is selected.
//!
//! Without a selected build, the table names no PDB. Otherwise Volatility would use it as the table of the kernel itself, but it
//! is loaded in addition to that. The addresses of variables are those of one PDB, and the table names that PDB if it is known.

use super::order::{is_macros, keyword, ordered};
use crate::axis::{Arch, TargetId};
use crate::layouts::{Aggregate, Enumeration, Field, Form, Layouts, Type};
use crate::registry::{ExaminedBuild, Pdb};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Writes the table of a target: all types, or one type and the types that it needs. `note` describes the table, and is written
/// as its producer. With a selected build, the table has the global variables with known addresses.
pub fn table(layouts: &Layouts, target: TargetId, only: Option<&str>, kernel: Option<&ExaminedBuild>, note: &str) -> String {
    let mut table = Table { layouts, base: BTreeMap::new(), structures: Vec::new(), unnamed: 0 };
    let mut enumerations = Vec::new();
    let held = ordered(layouts, target, only);
    for layout in &held {
        match &layout.form {
            Form::Aggregate(aggregate) => {
                let entry = table.aggregate(aggregate);
                table.structures.push(format!("{}: {entry}", text(&tag(&layout.name))));
            }
            Form::Enumeration(_) if is_macros(layouts, layout) => {}
            Form::Enumeration(enumeration) => {
                table.base(&enumeration.c, enumeration.size, enumeration.signed);
                enumerations.push(format!("{}: {}", text(&tag(&layout.name)), constants(enumeration)));
            }
        }
    }
    let pdb = kernel.and_then(|kernel| Some((kernel, kernel.pdb.as_ref()?)));
    let symbols = kernel.iter().flat_map(|kernel| &kernel.globals).filter_map(|(name, address)| {
        let ty = layouts.globals[target].get(name);
        let is_held = |id: usize| held.iter().any(|held| held.name == layouts.layouts[id].name);
        // If one structure is selected, skip variables of types that the table does not have.
        if only.is_some() && !ty.is_some_and(|ty| matches!(ty.element(), Type::Layout(id) if is_held(*id))) {
            return None;
        }
        let ty = ty.map(|ty| format!(", \"type\": {}", table.ty(ty))).unwrap_or_default();
        Some(format!("{}: {{\"address\": {address}{ty}}}", text(name)))
    });
    let symbols: Vec<_> = symbols.collect();
    let windows = pdb.map(|(kernel, pdb)| {
        let (database, Pdb { guid, age, .. }, machine) = (text(&pdb.name), pdb, machine(kernel.arch));
        let pdb =
            format!("\"GUID\": \"{:X}\", \"age\": {age}, \"database\": {database}, \"machine_type\": {machine}", guid.simple());
        format!(", \"windows\": {{\"pdb\": {{{pdb}}}}}")
    });
    let windows = windows.unwrap_or_default();
    let pointer = layouts.spec.axis.targets[target].arch.pointer_size();
    let void = (0, "void", true);
    let base = [("void".to_owned(), void), ("pointer".to_owned(), (pointer, "int", false))].into_iter().chain(table.base);
    let base = base.map(|(name, (size, kind, signed))| {
        format!("{}: {{\"kind\": \"{kind}\", \"size\": {size}, \"signed\": {signed}, \"endian\": \"little\"}}", text(&name))
    });
    let producer = format!("{{\"name\": {}, \"version\": \"{}\"}}", text(note), env!("CARGO_PKG_VERSION"));
    format!(
        "{{\n\"metadata\": {{\"format\": \"6.2.0\", \"producer\": {producer}{windows}}},\n\"base_types\": {},\n\"user_types\": {},\n\
         \"enums\": {},\n\"symbols\": {}\n}}\n",
        object(base),
        object(table.structures),
        object(enumerations),
        object(symbols),
    )
}

/// The value of `IMAGE_FILE_MACHINE_…`.
fn machine(arch: Arch) -> u32 {
    match arch {
        Arch::X86 => 0x014C,
        Arch::X64 => 0x8664,
        Arch::Arm64 => 0xAA64,
    }
}

struct Table<'a> {
    layouts: &'a Layouts,
    /// Size, kind and sign of the base types that are used.
    base: BTreeMap<String, (u64, &'static str, bool)>,
    /// Structures and unions. Unnamed ones get a name.
    structures: Vec<String>,
    unnamed: usize,
}

impl Table<'_> {
    /// A structure or union. It also has the members of anonymous structures and unions in it, as in tables that are converted
    /// from symbol files.
    fn aggregate(&mut self, aggregate: &Aggregate) -> String {
        let fields: Vec<_> = aggregate
            .flat()
            .into_iter()
            .map(|member| {
                let ty = self.field(member.field);
                format!("{}: {{\"offset\": {}, \"type\": {ty}}}", text(member.name), member.offset)
            })
            .collect();
        let (kind, size) = (keyword(aggregate.kind), aggregate.extent.size);
        format!("{{\"kind\": \"{kind}\", \"size\": {size}, \"fields\": {}}}", object(fields))
    }

    fn field(&mut self, field: &Field) -> String {
        let ty = self.ty(&field.ty);
        match field.bits {
            Some(bits) => {
                let (position, width) = (bits.position, bits.width);
                format!("{{\"kind\": \"bitfield\", \"bit_position\": {position}, \"bit_length\": {width}, \"type\": {ty}}}")
            }
            None => ty,
        }
    }

    fn ty(&mut self, ty: &Type) -> String {
        match ty {
            Type::Scalar { size, signed, c } => {
                self.base(c, *size, *signed);
                named("base", c)
            }
            Type::Pointer { to, .. } => format!("{{\"kind\": \"pointer\", \"subtype\": {}}}", self.ty(to)),
            Type::Array { of, count } => format!("{{\"kind\": \"array\", \"count\": {count}, \"subtype\": {}}}", self.ty(of)),
            Type::Layout(id) => {
                let layout = &self.layouts.layouts[*id];
                let kind = match &layout.form {
                    Form::Aggregate(aggregate) => keyword(aggregate.kind),
                    Form::Enumeration(_) => "enum",
                };
                named(kind, &tag(&layout.name))
            }
            Type::Inline(inner) => {
                self.unnamed += 1;
                let name = format!("__unnamed_{}", self.unnamed);
                let entry = self.aggregate(inner);
                self.structures.push(format!("{}: {entry}", text(&name)));
                named(keyword(inner.kind), &name)
            }
            Type::Void => named("base", "void"),
            Type::Function => "{\"kind\": \"function\"}".to_owned(),
            Type::Named(name) => named("struct", &tag(name)),
        }
    }

    fn base(&mut self, c: &str, size: u64, signed: bool) {
        let kind = if size == 1 { "char" } else { "int" };
        self.base.insert(c.to_owned(), (size, kind, signed));
    }
}

fn constants(enumeration: &Enumeration) -> String {
    let number = |value: i64| if enumeration.signed { value.to_string() } else { (value as u64).to_string() };
    let constants = enumeration.constants.iter().map(|(name, value)| format!("{}: {}", text(name), number(*value)));
    let constants = constants.collect::<Vec<_>>().join(", ");
    format!("{{\"size\": {}, \"base\": {}, \"constants\": {{{constants}}}}}", enumeration.size, text(&enumeration.c))
}

/// The name of a type in symbol files.
fn tag(name: &str) -> String {
    format!("_{name}")
}

fn named(kind: &str, name: &str) -> String {
    format!("{{\"kind\": \"{kind}\", \"name\": {}}}", text(name))
}

/// An object, one member per line.
fn object(entries: impl IntoIterator<Item = String>) -> String {
    let entries: Vec<_> = entries.into_iter().collect();
    if entries.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n}}", entries.join(",\n")) }
}

fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            c if c.is_control() => write!(out, "\\u{:04x}", u32::from(c)),
            c => write!(out, "{c}"),
        };
    }
    out + "\""
}
