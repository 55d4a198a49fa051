//! Reads scalar types and typedefs: `scalars.toml`.

use super::reader::{Reader, Table};
use crate::ctype::CType;
use crate::source::At;
use crate::spec::{Scalar, Spec};
use crate::syntax::{self, Node, ValueForm};
use toml::de::DeValue;

pub(super) fn read(reader: &mut Reader, root: syntax::TomlTable, spec: &mut Spec) {
    reader.known(root);
    for section in root.entries() {
        if section.value.get_ref().as_table().is_none() {
            let help = "write [scalar] or [typedef]";
            reader.error(reader.span(section.value.span()), "expected a table", "not a table", help);
        }
        for entry in section.named() {
            let name = At::new(entry.name.to_owned(), reader.span(entry.name_span.clone()));
            if !check_name(reader, &name) || spec.scalars.contains_key(&name.value) || spec.typedefs.contains_key(&name.value) {
                let help = "choose another name";
                let title = format!("invalid type name `{}`", name.value);
                reader.error(name.span, title, "already used, or not a valid name", help);
            } else if section.key.is_some_and(|key| key.form == ValueForm::NamedPiecewise) {
                let all = spec.axis.all();
                let ty = reader.piecewise(&spec.axis, &all, &entry.pieces(), &mut ctype);
                spec.typedefs.insert(name.value, ty);
            } else if let Some(table) = entry.tables().pop() {
                let table = reader.known(table);
                spec.scalars.extend(scalar(reader, &table).map(|scalar| (name.value, scalar)));
            } else {
                let help = "write { size = …, c = \"…\" }";
                reader.error(reader.span(entry.value.span()), "expected a table", "not a table", help);
            }
        }
    }
}

fn scalar(reader: &mut Reader, table: &Table) -> Option<Scalar> {
    let size = table.require(reader, "size").and_then(|n| reader.count(n, 0))?;
    if ![0, 1, 2, 4, 8].contains(&size) {
        reader.error(table.span, format!("invalid scalar size of {size} bytes"), "here", "write 1, 2, 4 or 8, or 0 for void");
        return None;
    }
    let signed = match table.get("signed").map(|n| (n, n.get_ref())) {
        None => false,
        Some((_, DeValue::Boolean(signed))) => *signed,
        Some((node, _)) => {
            reader.error(
                reader.span(node.span()),
                "expected true or false",
                "neither of them",
                "write true or false, without quotes",
            );
            false
        }
    };
    let c = table.require(reader, "c").and_then(|n| c_words(reader, n))?;
    Some(Scalar { size, signed, c, span: table.span })
}

/// A scalar type in C, which is copied to C headers.
fn c_words(reader: &mut Reader, node: &Node) -> Option<String> {
    let At { value, span } = reader.string(node)?;
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if value.is_empty() || !value.split(' ').all(is_word) {
        reader.error(span, format!("unknown C scalar type `{value}`"), "here", "write C keywords, such as \"unsigned long\"");
        return None;
    }
    Some(value)
}

/// A C type.
pub(super) fn ctype(reader: &mut Reader, node: &Node) -> Option<CType> {
    let text = reader.string(node)?;
    let mut words = text.value.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    if let Some(keyword) = words.find(|word| matches!(*word, "struct" | "union" | "enum")) {
        let name = words.next().unwrap_or_default().trim_start_matches('_');
        let help = format!(
            "write the name alone, without keyword and leading underscore: `{}`",
            if name.is_empty() { "NAME" } else { name }
        );
        reader.error(text.span, format!("unexpected keyword `{keyword}` in a type"), "here", help);
        return None;
    }
    match CType::parse(&text.value) {
        Ok(ty) => Some(ty),
        Err(message) => {
            reader.error(
                text.span,
                "invalid type",
                message,
                "write it as in C, without a name: \"ULONG\", \"UCHAR [16]\", \"VOID (*) (PVOID)\"",
            );
            None
        }
    }
}

pub(super) fn check_name(reader: &mut Reader, name: &At<String>) -> bool {
    let good = is_identifier(&name.value);
    if !good && name.value.len() > LONGEST {
        let title = format!("name is too long: {} bytes", name.value.len());
        reader.error(name.span, title, "too long", format!("write at most {LONGEST} letters, digits and `_`"));
    } else if !good {
        reader.error(
            name.span,
            format!("invalid name `{}`", name.value),
            "not a C identifier",
            "start with a letter, then write letters, digits and `_`",
        );
    }
    good
}

/// The maximum length of a name in bytes.
const LONGEST: usize = 128;

/// Whether a name is valid in specs: a C identifier of at most 128 bytes that begins with a letter.
pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    first && name.len() <= LONGEST && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
