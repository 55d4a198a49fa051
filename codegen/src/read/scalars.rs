//! `scalars.toml`.

use super::tree::{Node, Reader};
use crate::ctype::CType;
use crate::source::At;
use crate::spec::{Scalar, Spec};
use toml::de::{DeTable, DeValue};

pub(super) fn read<'a>(reader: &mut Reader, root: &'a DeTable<'a>, spec: &mut Spec) {
    reader.root(root, &["scalar", "typedef"]);
    for (section, node) in root.iter() {
        let DeValue::Table(entries) = node.get_ref() else {
            reader.error(reader.span(node.span()), "a table is expected", "this is no table", "write [scalar] or [typedef]");
            continue;
        };
        for (key, node) in entries.iter() {
            let name = At::new(key.get_ref().to_string(), reader.span(key.span()));
            if !check_name(reader, &name) || spec.scalars.contains_key(&name.value) || spec.typedefs.contains_key(&name.value) {
                reader.error(
                    name.span,
                    format!("`{}` cannot be a type here", name.value),
                    "used already, or not a name",
                    "choose another",
                );
            } else if section.get_ref() == "scalar" {
                spec.scalars.extend(scalar(reader, node).map(|scalar| (name.value, scalar)));
            } else {
                let all = spec.axis.all();
                let ty = reader.piecewise(&spec.axis, &all, node, &mut ctype);
                spec.typedefs.insert(name.value, ty);
            }
        }
    }
}

fn scalar(reader: &mut Reader, node: &Node) -> Option<Scalar> {
    let table = reader.table(node, &["size", "signed", "c"])?;
    let size = table.require(reader, "size").and_then(|n| reader.count(n, 0))?;
    if ![0, 1, 2, 4, 8].contains(&size) {
        reader.error(table.span, format!("no scalar has {size} bytes"), "here", "write 1, 2, 4 or 8, or 0 for void");
        return None;
    }
    let signed = match table.get("signed").map(|n| (n, n.get_ref())) {
        None => false,
        Some((_, DeValue::Boolean(signed))) => *signed,
        Some((node, _)) => {
            reader.error(
                reader.span(node.span()),
                "true or false is expected",
                "this is neither",
                "write true or false, without quotes",
            );
            false
        }
    };
    let c = table.require(reader, "c").and_then(|n| reader.string(n))?.value;
    Some(Scalar { size, signed, c, span: table.span })
}

/// A C type.
pub(super) fn ctype(reader: &mut Reader, node: &Node) -> Option<CType> {
    let text = reader.string(node)?;
    match CType::parse(&text.value) {
        Ok(ty) => Some(ty),
        Err(message) => {
            reader.error(
                text.span,
                "this is no C type",
                message,
                "write it as in C, without a name: \"ULONG\", \"UCHAR [16]\", \"VOID (*) (PVOID)\"",
            );
            None
        }
    }
}

pub(super) fn check_name(reader: &mut Reader, name: &At<String>) -> bool {
    let good = is_identifier(&name.value);
    if !good {
        reader.error(
            name.span,
            format!("`{}` is no name", name.value),
            "not an identifier of C",
            "write letters, digits and `_`, a letter first",
        );
    }
    good
}

/// Names that neither C nor Rust reserve in a way that generated code could not spell.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    first && name.len() <= 128 && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
