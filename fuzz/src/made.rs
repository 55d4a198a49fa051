//! Specs derived from arbitrary bytes, mostly valid: difficult names, lengths, nesting and texts.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Member names with a meaning in Rust, in generated code, or in the runtime.
const NAMES: [&str; 52] = [
    "Flags",
    "set_Flags",
    "a",
    "A",
    "set_a",
    "b",
    "type",
    "self",
    "self_",
    "Self",
    "crate",
    "super",
    "async",
    "gen",
    "union",
    "u00",
    "u08",
    "bits00",
    "bits08",
    "padding",
    "tail",
    "new",
    "from",
    "into",
    "LAYOUT",
    "Layout",
    "Member",
    "Type",
    "Named",
    "Values",
    "Described",
    "meta",
    "members",
    "layouts",
    "constants",
    "runtime",
    "core",
    "std",
    "Option",
    "Some",
    "None",
    "u8",
    "usize",
    "bool",
    "Pod",
    "Copy",
    "Default",
    "default",
    "clone",
    "fmt",
    "zeroed",
    "ALL",
];

/// Type names, except for names that are reserved.
const TYPES: [&str; 17] = [
    "FLAGS", "STATE", "a", "Vec", "core", "std", "Pod", "Copy", "Default", "clone", "fmt", "Ok", "String", "Debug", "union",
    "set_a", "padding",
];

const SCALARS: [&str; 8] = ["UCHAR", "CHAR", "USHORT", "ULONG", "LONG", "ULONGLONG", "BOOLEAN", "PVOID"];

/// Some lengths for which `bytemuck` implements its traits, and some for which it does not.
const LENGTHS: [u32; 16] = [1, 2, 3, 31, 32, 33, 64, 65, 100, 128, 129, 256, 257, 260, 1000, 70_000];

const VALUES: [&str; 6] = ["0", "1", "2", "0x41", "0x7E", "0x7F"];

const DOCS: [&str; 10] = [
    "What it is.",
    "a\\rb",
    "a\\r\\nb",
    "\\u202E\\u2066",
    "*/ /* ``` ` [a](b) [c]",
    "\\\\\\\" #\\\"# {} {0}",
    "",
    "\\n\\n    code\\n",
    "<b> @ \\u00A0",
    "\\u2028\\uFEFF",
];

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    /// The next byte; 0 after the end.
    fn next(&mut self) -> usize {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        usize::from(*first)
    }

    fn of<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.next() % list.len()]
    }

    /// An unused name, while there are any.
    fn name(&mut self, of: &[&str], taken: &mut BTreeSet<String>) -> String {
        let at = self.next();
        let free = (at..at + of.len()).map(|at| of[at % of.len()].to_owned()).find(|name| !taken.contains(name));
        let name = free.unwrap_or_else(|| format!("n{}", taken.len()));
        taken.insert(name.clone());
        name
    }
}

/// Spec files in the format of the target `spec`: scalars, and up to eight definitions. Each can embed the previous ones.
pub fn specs(bytes: &[u8]) -> String {
    let mut bytes = Bytes(bytes);
    let mut text = format!("#file scalars.toml\n{}\n", include_str!("../../specs/scalars.toml"));
    let (mut taken, mut types) = (BTreeSet::new(), Vec::new());
    while !bytes.0.is_empty() && taken.len() < 8 {
        let kind = bytes.next();
        let name = bytes.name(&TYPES, &mut taken);
        let sort = ["struct", "struct", "struct", "union", "union", "enum", "flags", "constants"][kind % 8];
        let _ = write!(text, "#file {name}.toml\n[{sort}]\nname = \"{name}\"\n");
        if kind >= 128 {
            let _ = writeln!(text, "doc = \"{}\"", bytes.of(&DOCS));
        }
        match sort {
            "struct" | "union" => {
                match kind / 8 % 8 {
                    1 => _ = writeln!(text, "align = {}", 1 << (bytes.next() % 14)),
                    2 => _ = writeln!(text, "pack = {}", 1 << (bytes.next() % 5)),
                    3 => _ = writeln!(text, "in = \"8\""),
                    _ => {}
                }
                let mut members = BTreeSet::new();
                for _ in 0..=bytes.next() % 9 {
                    text.push_str("[[member]]\n");
                    text += &member(&mut bytes, &types, &mut members, 0, "\n");
                }
            }
            _ => {
                let ty = bytes.of(&SCALARS[..6]);
                let _ = write!(text, "type = \"{ty}\"\nconstants = [\n");
                let mut constants = BTreeSet::new();
                for _ in 0..=bytes.next() % 6 {
                    let (name, value, doc) = (bytes.name(&NAMES, &mut constants), bytes.of(&VALUES), bytes.of(&DOCS));
                    let _ = writeln!(text, "  {{ name = \"{name}\", value = {value}, doc = \"{doc}\" }},");
                }
                text.push_str("]\n");
            }
        }
        // Types that exist in one version only cannot be embedded in other versions.
        if sort == "enum" || matches!(sort, "struct" | "union") && kind / 8 % 8 != 3 {
            types.push(name);
        }
    }
    text
}

/// The keys of a member, each followed by `end`.
fn member(bytes: &mut Bytes<'_>, types: &[String], taken: &mut BTreeSet<String>, depth: usize, end: &str) -> String {
    let kind = bytes.next();
    let mut keys = String::new();
    if depth < 4 && kind % 8 == 7 {
        let inner = ["struct", "union"][kind / 8 % 2];
        if kind >= 128 {
            let _ = write!(keys, "name = \"{}\"{end}", bytes.name(&NAMES, taken));
        }
        // A named member has its own namespace.
        let mut own = BTreeSet::new();
        let taken = if kind >= 128 { &mut own } else { taken };
        let list = (0..=bytes.next() % 4)
            .map(|_| format!("{{ {} }}", member(bytes, types, taken, depth + 1, ", ").trim_end_matches(", ")));
        let list: Vec<_> = list.collect();
        let _ = write!(keys, "{inner} = [ {} ]{end}", list.join(", "));
        return keys;
    }
    let _ = write!(keys, "name = \"{}\"{end}", bytes.name(&NAMES, taken));
    let at = bytes.next();
    let scalar = SCALARS[at / 2 % SCALARS.len()];
    let named = types.get(at / 2 % types.len().max(1)).filter(|_| at % 2 == 1);
    let ty = named.map_or(scalar, String::as_str);
    let length = LENGTHS[bytes.next() % LENGTHS.len()];
    let is_bits = matches!(kind % 8, 3 | 4);
    let _ = match kind % 8 {
        0 => write!(keys, "type = \"{ty} *\"{end}"),
        1 => write!(keys, "type = \"{ty} [{length}]\"{end}"),
        2 => write!(keys, "type = \"{ty} [{}] [{}]\"{end}", length % 40 + 1, length % 7 + 1),
        _ if is_bits => write!(keys, "type = \"{}\"{end}bits = {}{end}", SCALARS[at % 7], length % 8 + 1),
        _ => write!(keys, "type = \"{ty}\"{end}"),
    };
    let _ = match kind / 8 % 16 {
        1 => write!(keys, "in = \"8\"{end}"),
        2 => write!(keys, "doc = \"{}\"{end}", bytes.of(&DOCS)),
        3 if !is_bits => write!(keys, "align = {}{end}", 1 << (bytes.next() % 10)),
        4 => write!(keys, "unknown = \"name\"{end}"),
        _ => Ok(()),
    };
    keys
}

/// Bytes of several lengths.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut state = 7u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (1..13).map(|seed| (0..40 + seed * 10).map(|_| byte()).collect()).collect()
}
