//! A C header for one target: declarations as the spec has them, and assertions that a compiler checks.
//!
//! No padding is declared, and no packing or alignment beyond the spec. If the assertions hold, a compiler has computed the same
//! offsets on its own. The plain form is for parsers without the extensions of the Microsoft compiler: all padding is declared,
//! so that no alignment is needed. A member or type that has the name of a keyword gets an underscore at its end. A constant that
//! is also in another enumeration gets the name of its enumeration as a prefix. A comment states the original name.

use super::Notes;
use super::order::{is_macros, keyword, ordered};
use super::padded::{FreeNames, Item, padded};
use super::words::no_word;
use crate::axis::TargetId;
use crate::ctype::CType;
use crate::layouts::{Aggregate, Enumeration, Field, Form, Layout, Layouts, Type};
use crate::spec::Scalar;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The style of a header.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style<'a> {
    /// Prefix of the names of types and constants, which avoids conflicts with other headers. Members keep their names.
    pub prefix: &'a str,
    /// Whether it is plain C: padding declared, no alignment stated, no assertion unless `ETW_LAYOUTS_ASSERTIONS` is defined as 1.
    pub plain: bool,
    /// Notes on types.
    pub notes: Option<&'a Notes>,
}

/// Writes the header of a target: all types, or one type and the types that it needs.
pub fn header(layouts: &Layouts, target: TargetId, only: Option<&str>, style: Style) -> String {
    let mut writer = Writer { layouts, target, style, declared: BTreeSet::new(), constants: BTreeSet::new(), out: String::new() };
    let name = layouts.spec.axis.target_name(target);
    let guard = guard(&name, only, style.prefix);
    let _ = write!(
        writer.out,
        "/* {name}: declarations, and static assertions for the Microsoft C ABI. */\n#ifndef {guard}\n#define {guard}\n\n"
    );
    writer.out += &ASSERTIONS.replace("{default}", if style.plain { "0" } else { "1" });
    for (name, scalar) in &layouts.spec.scalars {
        let _ = writeln!(writer.out, "typedef {} {};", basic(scalar), writer.called(name));
    }
    let types = ordered(layouts, target, only);
    for layout in &types {
        match &layout.form {
            Form::Aggregate(aggregate) => writer.aggregate(&layout.name, aggregate),
            Form::Enumeration(_) if is_macros(layouts, layout) => {}
            Form::Enumeration(enumeration) => writer.enumeration(&layout.name, enumeration),
        }
    }
    // After all declarations: a macro may have the name of a member.
    writer.macros(&types);
    writer.out
        + "\n#undef ETW_LAYOUTS_ASSERT\n#undef ETW_LAYOUTS_ALIGN\n#undef ETW_LAYOUTS_ALIGNOF\n#undef ETW_LAYOUTS_LONG\n#endif\n"
}

/// Macros for syntax that differs between C, C++ and compilers. `MinGW` defines `__declspec` as an attribute, which has no
/// `align`.
const ASSERTIONS: &str = include_str!("c/macros.h");

/// Collects the names of all members, including those of structures and unions that are declared inside.
fn member_names<'a>(aggregate: &'a Aggregate, names: &mut BTreeSet<&'a str>) {
    for field in &aggregate.fields {
        names.extend(field.name.as_deref());
        if let Type::Inline(inner) = &field.ty {
            member_names(inner, names);
        }
    }
}

/// The include guard.
fn guard(target: &str, only: Option<&str>, prefix: &str) -> String {
    let only = only.map(|only| format!("_{only}")).unwrap_or_default();
    let text = format!("{prefix}ETW_LAYOUTS_{target}{only}_H").to_uppercase();
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

struct Writer<'a> {
    layouts: &'a Layouts,
    target: TargetId,
    style: Style<'a>,
    /// Names that have a typedef.
    declared: BTreeSet<&'a str>,
    /// The names of constants of enumerations in the header.
    constants: BTreeSet<String>,
    out: String,
}

impl<'a> Writer<'a> {
    /// Declares a structure or union, after the names that it uses.
    fn aggregate(&mut self, name: &'a str, aggregate: &'a Aggregate) {
        self.out.push('\n');
        self.note(name);
        self.forward(name, keyword(aggregate.kind));
        aggregate.ctypes().into_iter().flat_map(CType::names).for_each(|name| self.name(name));
        let Style { prefix, plain, .. } = self.style;
        if let Some(pack) = aggregate.pack {
            let _ = writeln!(self.out, "#pragma pack(push, {pack})");
        }
        let _ = writeln!(self.out, "{}{} {prefix}_{name} {{", keyword(aggregate.kind), self.aligned(aggregate.align));
        let mut free = FreeNames::of(aggregate);
        self.fields(aggregate, 1, &mut free);
        self.out.push_str("};\n");
        if aggregate.pack.is_some() {
            self.out.push_str("#pragma pack(pop)\n");
        }
        let (size, align) = (aggregate.extent.size, aggregate.extent.align);
        let called = self.called(name);
        self.assert(&format!("sizeof({called}) == {size:#x}"), &format!("size of {name}"));
        if !plain {
            self.assert(&format!("ETW_LAYOUTS_ALIGNOF({called}) == {align}"), &format!("alignment of {name}"));
        }
        self.offsets(&called, "", 0, aggregate, &free.taken);
    }

    fn enumeration(&mut self, name: &'a str, enumeration: &Enumeration) {
        let prefix = self.style.prefix;
        let pointer = self.pointer(name).map(|pointer| format!(", *{pointer}")).unwrap_or_default();
        let called = self.called(name);
        // C has no enumerations of another size.
        let (open, close) = match enumeration.size {
            4 => (format!("typedef enum {prefix}_{name}"), format!(" {called}{pointer}")),
            _ => (format!("typedef {} {called}{pointer};\nenum", enumeration.c), String::new()),
        };
        self.declared.insert(name);
        self.out.push('\n');
        self.note(name);
        let _ = writeln!(self.out, "{open} {{");
        let last = enumeration.constants.len().saturating_sub(1);
        for (index, (constant, value)) in enumeration.constants.iter().enumerate() {
            let own = self.constant(name, constant);
            let comma = if index < last { "," } else { "" };
            let _ = writeln!(self.out, "    {own} = {value}{comma}{}", original(&own, &format!("{prefix}{constant}")));
        }
        let _ = writeln!(self.out, "}}{close};");
        self.assert(&format!("sizeof({called}) == {:#x}", enumeration.size), &format!("size of {name}"));
    }

    /// The name of a constant of an enumeration in the header. The constants of all enumerations are in one scope.
    fn constant(&mut self, enumeration: &str, constant: &str) -> String {
        let prefix = self.style.prefix;
        let is_taken = |own: &str| self.constants.contains(own);
        let mut own = no_word(format!("{prefix}{constant}"), is_taken);
        if is_taken(&own) {
            own = format!("{prefix}{enumeration}_{constant}");
            while self.constants.contains(&own) {
                own.push('_');
            }
        }
        self.constants.insert(own.clone());
        own
    }

    /// The name of a type in the header.
    fn called(&self, name: &str) -> String {
        let (spec, prefix) = (&self.layouts.spec, self.style.prefix);
        let is_specified = |name: &str| {
            spec.definitions.contains_key(name) || spec.scalars.contains_key(name) || spec.typedefs.contains_key(name)
        };
        no_word(format!("{prefix}{name}"), |name| name.strip_prefix(prefix).is_some_and(is_specified))
    }

    fn note(&mut self, name: &str) {
        if let Some(note) = self.style.notes.and_then(|notes| notes.get(name)) {
            let _ = writeln!(self.out, "/* {name}: {note}. */");
        }
    }

    /// Flags and constants, each once.
    fn macros(&mut self, types: &[&Layout]) {
        let (mut known, mut members) = (BTreeSet::new(), BTreeSet::new());
        // Members of all targets count, because two headers can be included together.
        for layout in &self.layouts.layouts {
            if let Form::Aggregate(aggregate) = &layout.form {
                member_names(aggregate, &mut members);
            }
        }
        for layout in types.iter().filter(|layout| is_macros(self.layouts, layout)) {
            let Form::Enumeration(set) = &layout.form else { continue };
            let _ = writeln!(self.out, "\n/* {} */", layout.name);
            for (name, value) in self.layouts.macros(self.target, &layout.name).filter(|(name, _)| known.insert(*name)) {
                let prefix = self.style.prefix;
                // A macro replaces every later use of a member with its name.
                let called =
                    if members.contains(name) { format!("{prefix}{}_{name}", layout.name) } else { format!("{prefix}{name}") };
                let own = no_word(called, |own| self.constants.contains(own));
                let _ = writeln!(self.out, "#define {own} {}{}", literal(value, set), original(&own, &format!("{prefix}{name}")));
            }
        }
    }

    /// Declares a name that a type uses.
    fn name(&mut self, name: &'a str) {
        let spec = &self.layouts.spec;
        if spec.scalars.contains_key(name) || self.declared.contains(name) {
            return;
        }
        if let Some(piece) = spec.typedefs.get(name).and_then(|typedef| typedef.get(self.target)) {
            self.declared.insert(name);
            piece.value.names().into_iter().for_each(|name| self.name(name));
            let declared = self.spelled(&piece.value, &BTreeSet::new()).declare(&self.called(name));
            let _ = writeln!(self.out, "typedef {declared};");
            return;
        }
        match self.layouts.get(self.target, name).map(|layout| &layout.form) {
            Some(Form::Aggregate(aggregate)) => self.forward(name, keyword(aggregate.kind)),
            Some(Form::Enumeration(_)) => {}
            None => self.forward(name, "struct"),
        }
    }

    /// Declares a structure or union without its contents, which is enough for pointers to it.
    fn forward(&mut self, name: &'a str, keyword: &str) {
        if self.declared.insert(name) {
            let prefix = self.style.prefix;
            let pointer = self.pointer(name).map(|pointer| format!(", *{pointer}")).unwrap_or_default();
            let called = self.called(name);
            let _ = writeln!(
                self.out,
                "typedef {keyword} {prefix}_{name} {called}{pointer};{}",
                original(&called, &format!("{prefix}{name}"))
            );
        }
    }

    /// The name of the pointer to a type, unless another type has this name: `PSID` does not point to `SID`.
    fn pointer(&self, name: &str) -> Option<String> {
        let pointer = format!("P{name}");
        let spec = &self.layouts.spec;
        let is_free = !spec.scalars.contains_key(&pointer) && !spec.typedefs.contains_key(&pointer);
        (is_free && !spec.definitions.contains_key(&pointer)).then(|| format!("{}{pointer}", self.style.prefix))
    }

    /// The spelling of a type in a structure with members of these names. In C++, a type and a member of the structure cannot
    /// have the same name: such a type is written without its name.
    fn spelled(&self, ctype: &CType, members: &BTreeSet<&str>) -> CType {
        let inner = |of: &CType| Box::new(self.spelled(of, members));
        match ctype {
            CType::Name { name: own, volatile } => {
                let (name, volatile) = (self.called(own), *volatile);
                let is_member = members.contains(name.as_str());
                if is_member { self.nameless(own, volatile, members) } else { CType::Name { name, volatile } }
            }
            CType::Pointer { to, volatile } => CType::Pointer { to: inner(to), volatile: *volatile },
            CType::Array { of, length } => CType::Array { of: inner(of), length: *length },
            CType::Function { returns, parameters } => {
                let parameters = parameters.iter().map(|parameter| self.spelled(parameter, members)).collect();
                CType::Function { returns: inner(returns), parameters }
            }
        }
    }

    /// A named type without its name: its tag, or the type behind its typedef.
    fn nameless(&self, name: &str, volatile: bool, members: &BTreeSet<&str>) -> CType {
        let (spec, prefix) = (&self.layouts.spec, self.style.prefix);
        let tagged = |keyword: &str| format!("{keyword} {prefix}_{name}");
        let name = match self.layouts.get(self.target, name).map(|layout| &layout.form) {
            Some(Form::Aggregate(aggregate)) => tagged(keyword(aggregate.kind)),
            Some(Form::Enumeration(set)) if set.size == 4 => tagged("enum"),
            Some(Form::Enumeration(set)) => set.c.clone(),
            None => match (spec.scalars.get(name), spec.typedefs.get(name).and_then(|typedef| typedef.get(self.target))) {
                (Some(scalar), _) => basic(scalar),
                (_, Some(piece)) => match self.spelled(&piece.value, members) {
                    CType::Name { name, volatile: own } => return CType::Name { name, volatile: volatile || own },
                    CType::Pointer { to, volatile: own } => return CType::Pointer { to, volatile: volatile || own },
                    other => return other,
                },
                _ => tagged("struct"),
            },
        };
        CType::Name { name, volatile }
    }

    fn fields(&mut self, aggregate: &Aggregate, depth: usize, free: &mut FreeNames) {
        let indent = "    ".repeat(depth);
        if !self.style.plain {
            return aggregate.fields.iter().for_each(|field| self.field(field, depth, free));
        }
        for item in padded(aggregate) {
            let _ = match item {
                Item::Field(field) => {
                    self.field(field, depth, free);
                    continue;
                }
                Item::Bytes(count) => writeln!(self.out, "{indent}unsigned char {} [{count}];", free.next("padding")),
                Item::Bits { size, width } => writeln!(self.out, "{indent}{} : {width};", unit(size)),
            };
        }
    }

    fn field(&mut self, field: &Field, depth: usize, free: &mut FreeNames) {
        let indent = "    ".repeat(depth);
        let plain = field.name.as_deref().unwrap_or_default();
        let name = &member(plain, &free.taken);
        let note = original(name, plain);
        match (&field.ty, &field.ctype) {
            (Type::Inline(inner), _) => {
                let _ = writeln!(self.out, "{indent}{}{} {{", keyword(inner.kind), self.aligned(inner.align));
                self.fields(inner, depth + 1, free);
                let gap = if name.is_empty() { "" } else { " " };
                let _ = writeln!(self.out, "{indent}}}{gap}{name};{note}");
            }
            (_, Some(ctype)) => {
                let align = self.aligned(field.align);
                let gap = if align.is_empty() { "" } else { " " };
                let declared = self.spelled(ctype, &free.taken).declare(name);
                let _ = writeln!(self.out, "{indent}{}{gap}{declared}{};{note}", align.trim_start(), width(field));
            }
            (_, None) => {}
        }
    }

    fn aligned(&self, align: Option<u64>) -> String {
        let stated = align.filter(|_| !self.style.plain);
        stated.map(|align| format!(" ETW_LAYOUTS_ALIGN({align})")).unwrap_or_default()
    }

    /// Assertions for the offsets of all members that have a name; bit fields have no address.
    fn offsets(&mut self, name: &str, path: &str, base: u64, aggregate: &Aggregate, members: &BTreeSet<&str>) {
        for flat in aggregate.flat().iter().filter(|flat| flat.field.bits.is_none()) {
            let (member, offset) = (format!("{path}{}", member(flat.name, members)), base + flat.offset);
            self.assert(&format!("offsetof({name}, {member}) == {offset:#x}"), &format!("{name}.{member}"));
            if let Type::Inline(inner) = &flat.field.ty {
                self.offsets(name, &format!("{member}."), offset, inner, members);
            }
        }
    }

    fn assert(&mut self, condition: &str, text: &str) {
        let _ = writeln!(self.out, "ETW_LAYOUTS_ASSERT({condition}, \"{text}\")");
    }
}

/// The name of a member in the header, in a structure with members of these names.
fn member(name: &str, members: &BTreeSet<&str>) -> String {
    no_word(name.to_owned(), |name| members.contains(name))
}

/// A comment with the original name, if it was changed.
fn original(called: &str, name: &str) -> String {
    if called == name { String::new() } else { format!(" /* {name} */") }
}

/// The C type of a scalar. `long` has four bytes on Windows only, so it needs a macro.
fn basic(scalar: &Scalar) -> String {
    let is_long = scalar.size == 4 && scalar.c.split(' ').any(|word| word == "long");
    if is_long { scalar.c.replace("long", "ETW_LAYOUTS_LONG") } else { scalar.c.clone() }
}

fn width(field: &Field) -> String {
    field.bits.map(|bits| format!(" : {}", bits.width)).unwrap_or_default()
}

/// The unsigned type with a size in bytes.
fn unit(size: u64) -> &'static str {
    match size {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned int",
        _ => "unsigned long long",
    }
}

/// The value of a macro, with the size of its type.
fn literal(value: i64, set: &Enumeration) -> String {
    if set.signed && value < 0 {
        return format!("({value})");
    }
    let (mask, suffix) = if set.size < 8 { ((1 << (set.size * 8)) - 1, "") } else { (u64::MAX, "ULL") };
    format!("{:#x}{suffix}", value as u64 & mask)
}
