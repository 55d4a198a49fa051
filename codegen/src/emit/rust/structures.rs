//! The table of layouts, and the structures that programs select by build.

use super::docs::comment;
use super::{Emitter, Table};
use crate::layouts::Form;
use crate::spec::Definition;
use std::fmt::Write;

impl Emitter<'_> {
    /// Every structure, and the table with its layouts.
    pub(super) fn structures(&self, table: &Table) -> String {
        let mut text = self.header("All layouts of each structure, which programs select by build and architecture at run time.");
        let bytes = match table {
            Table::File(path) => format!("include_bytes!({path:?})"),
            Table::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        };
        let _ = writeln!(
            text,
            "#[allow(unused_imports)]\nuse super::members;\nuse {}::packed::{{Layouts, Structure}};\n\n\
             /// All layouts and examined builds as one table, which programs can replace by a newer file.\n\
             pub static LAYOUTS: Layouts<'static> = Layouts::trusted({bytes});\n",
            self.options.runtime
        );
        for (name, definition) in self.layouts.spec.definitions.iter().filter(|(name, _)| self.is_selected(name)) {
            let doc = comment(&self.structure_doc(definition), "");
            let _ = writeln!(text, "{doc}pub static {name}: Structure<'static, members::{name}::Type> = LAYOUTS.known();");
        }
        text
    }

    /// Whether a definition is a structure, and selected at any target.
    pub(super) fn is_selected(&self, name: &str) -> bool {
        let own = self.layouts.layouts.iter().zip(&self.wanted).filter(|(layout, _)| layout.name == name);
        own.into_iter().any(|(layout, targets)| !targets.is_empty() && matches!(layout.form, Form::Aggregate(_)))
    }

    fn structure_doc(&self, definition: &Definition) -> String {
        let name = &definition.name.value;
        let mut doc = if definition.doc.is_empty() { format!("`{name}`.") } else { definition.doc.clone() };
        for piece in &definition.unverifiable.0 {
            let scope = self.layouts.spec.axis.words(&piece.targets);
            let _ = match piece.targets == definition.scope {
                true => write!(doc, "\n\nNo public symbols verify it: {}.", piece.value),
                false => write!(doc, "\n\nNo public symbols verify it ({scope}): {}.", piece.value),
            };
        }
        doc
    }
}
