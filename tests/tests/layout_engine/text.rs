//! Declarations as specs and as C.

use super::declaration::{Group, Member, Of, Record};
use std::fmt::Write;

/// A version axis with one kernel for all architectures, in the order of `Clang::all`.
pub const AXIS: &str = r#"architectures = ["x86", "x64", "arm64"]
ranges = { arm64 = "x64" }

[[release]]
labels    = ["1"]
name      = "One"
revisions = [{ build = "1.0.1", module = "one" }]
"#;

pub const SCALARS: &str = r#"[scalar]
VOID      = { size = 0, c = "void" }
CHAR      = { size = 1, signed = true, c = "char" }
UCHAR     = { size = 1, c = "unsigned char" }
SHORT     = { size = 2, signed = true, c = "short" }
USHORT    = { size = 2, c = "unsigned short" }
LONG      = { size = 4, signed = true, c = "long" }
ULONG     = { size = 4, c = "unsigned long" }
LONGLONG  = { size = 8, signed = true, c = "long long" }
ULONGLONG = { size = 8, c = "unsigned long long" }

[typedef]
BOOLEAN   = "UCHAR"
PVOID     = "VOID *"
ULONG_PTR = { x86 = "ULONG", x64 = "ULONGLONG" }
"#;

/// Enumerations, with the types of their values.
pub const ENUMS: [(&str, &str); 3] = [("KIND", "LONG"), ("SMALL_KIND", "UCHAR"), ("LARGE_KIND", "ULONGLONG")];

/// An enumeration as a spec file.
pub fn enumeration(name: &str, ty: &str) -> String {
    format!("[enum]\nname = \"{name}\"\ntype = \"{ty}\"\nconstants = [{{ name = \"{name}_ONE\", value = 1 }}]\n")
}

/// The same for C.
pub const TYPES: &str = "#define ANYSIZE_ARRAY 1
typedef void VOID;
typedef char CHAR;
typedef unsigned char UCHAR, BOOLEAN;
typedef short SHORT;
typedef unsigned short USHORT;
typedef long LONG;
typedef unsigned long ULONG;
typedef long long LONGLONG;
typedef unsigned long long ULONGLONG;
typedef void *PVOID;
#ifdef _WIN64
typedef unsigned long long ULONG_PTR;
#else
typedef unsigned long ULONG_PTR;
#endif
typedef enum { KIND_ONE = 1 } KIND;
typedef enum : unsigned char { SMALL_KIND_ONE = 1 } SMALL_KIND;
typedef enum : unsigned long long { LARGE_KIND_ONE = 1 } LARGE_KIND;
";

/// The name of a record of a group.
pub fn name(group: usize, record: usize) -> String {
    format!("S{group}_{record}")
}

/// A group as spec files.
pub fn spec(group: &Group, index: usize) -> String {
    (0..group.len()).map(|record| format!("{}\n", self::record(group, index, record))).collect()
}

/// One record of a group as a spec file.
pub fn record(group: &Group, index: usize, record: usize) -> String {
    let Record { union, pack, align, members } = &group[record];
    let mut out = format!("[{}]\nname = \"{}\"\n", keyword(*union), name(index, record));
    for (key, value) in [("pack", pack), ("align", align)] {
        out += &value.map(|value| format!("{key} = {value}\n")).unwrap_or_default();
    }
    let mut number = 0;
    for member in members {
        let _ = write!(out, "\n[[member]]\n{}\n", keys(member, index, &mut number).join("\n"));
    }
    out
}

fn keys(member: &Member, group: usize, number: &mut usize) -> Vec<String> {
    let mut keys = Vec::new();
    if member.named {
        keys.push(format!("name = \"m{number}\""));
        *number += 1;
    }
    let mut ty = |ty: &str| {
        let gap = if member.lengths.is_empty() { "" } else { " " };
        keys.push(format!("type = \"{ty}{gap}{}\"", member.lengths));
    };
    let mut align = member.align;
    match &member.of {
        Of::Type(name) => ty(name),
        Of::Function => keys.push(format!("type = \"VOID (*{}) (PVOID, ULONG)\"", member.lengths)),
        Of::Record(record) => ty(&name(group, *record)),
        Of::Inline(inner) => {
            let members = inner.members.iter().map(|member| format!("{{ {} }}", keys_of(member, group, number)));
            let members: Vec<_> = members.collect();
            keys.push(format!("{} = [\n  {},\n]", keyword(inner.union), members.join(",\n  ")));
            align = inner.align;
        }
    }
    keys.extend(member.bits.map(|bits| format!("bits = {bits}")));
    keys.extend(align.map(|align| format!("align = {align}")));
    keys
}

fn keys_of(member: &Member, group: usize, number: &mut usize) -> String {
    keys(member, group, number).join(", ")
}

/// A group as C.
pub fn c(group: &Group, index: usize) -> String {
    let mut out = String::new();
    for (number, record) in group.iter().enumerate() {
        let name = name(index, number);
        let (before, after) = match record.pack {
            Some(pack) => (format!("#pragma pack(push, {pack})\n"), "#pragma pack(pop)\n"),
            None => (String::new(), ""),
        };
        let body = body(record, &name, index, 1, &mut 0);
        let _ = write!(out, "{before}typedef {body} {name};\n{after}");
    }
    out
}

fn body(record: &Record, tag: &str, group: usize, depth: usize, number: &mut usize) -> String {
    let align = record.align.map(|align| format!("__declspec(align({align})) ")).unwrap_or_default();
    let members = record.members.iter().map(|member| declaration(member, group, depth, number));
    let members: String = members.collect();
    format!("{} {align}{tag} {{\n{members}{}}}", keyword(record.union), "  ".repeat(depth - 1))
}

fn declaration(member: &Member, group: usize, depth: usize, number: &mut usize) -> String {
    let mut name = String::new();
    if member.named {
        name = format!("m{number}");
        *number += 1;
    }
    let declarator = format!("{name}{}", member.lengths);
    let align = member.align.map(|align| format!("__declspec(align({align})) ")).unwrap_or_default();
    let bits = member.bits.map(|bits| format!(" : {bits}")).unwrap_or_default();
    let declared = match &member.of {
        Of::Type(ty) => format!("{ty} {declarator}{bits}"),
        Of::Function => format!("VOID (*{declarator})(PVOID, ULONG)"),
        Of::Record(record) => format!("{} {declarator}", self::name(group, *record)),
        Of::Inline(inner) => format!("{} {declarator}", body(inner, "", group, depth + 1, number)),
    };
    format!("{}{align}{declared};\n", "  ".repeat(depth))
}

fn keyword(union: bool) -> &'static str {
    if union { "union" } else { "struct" }
}
