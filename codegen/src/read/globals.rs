//! Reads global variables: `[global.NAME]`.

use super::common::{scope, source};
use super::reader::Reader;
use super::scalars::{check_name, ctype};
use crate::source::At;
use crate::spec::{Global, Spec};
use crate::syntax;

pub(super) fn read(reader: &mut Reader, root: syntax::TomlTable, spec: &mut Spec) {
    reader.known(root);
    let all = spec.axis.all();
    for section in root.entries().filter(|section| section.value.get_ref().as_table().is_none()) {
        reader.error(reader.span(section.value.span()), "expected a table", "not a table", "write [global.NAME]");
    }
    for entry in root.entries().flat_map(|section| section.named()) {
        let name = At::new(entry.name.to_owned(), reader.span(entry.name_span.clone()));
        if !check_name(reader, &name) {
            continue;
        }
        let Some(table) = entry.tables().pop() else {
            let help = "write a table [global.NAME] with the keys in, type, source, doc";
            reader.error(reader.span(entry.value.span()), "expected a table", "not a table", help);
            continue;
        };
        if let Some(first) = spec.globals.get(&name.value) {
            let title = format!("duplicate variable `{}`", name.value);
            reader.error_also((first.name.span, "the first"), name.span, title, "the second", "keep one of them");
            continue;
        }
        let table = reader.known(table);
        let scope = scope(reader, &spec.axis, &table, &all);
        let types = table.pieces("type").map(|pieces| reader.piecewise(&spec.axis, &scope, &pieces, &mut ctype));
        let global = Global {
            ty: types.unwrap_or_default(),
            source: source(reader, &spec.axis, &table, &scope),
            doc: table.text(reader, "doc"),
            name,
            scope,
        };
        spec.globals.insert(global.name.value.clone(), global);
    }
}
