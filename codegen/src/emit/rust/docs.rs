//! Doc comments: offset, type, versions, what it is, where the fact comes from, errata.

use super::Emitter;
use crate::layouts::{Aggregate, Field, LayoutId};
use std::fmt::Write;

impl Emitter<'_> {
    /// The doc comment of a layout.
    pub(super) fn layout_doc(&self, id: LayoutId, aggregate: &Aggregate) -> String {
        let layout = &self.layouts.layouts[id];
        let axis = &self.layouts.spec.axis;
        let (size, align) = (aggregate.extent.size, aggregate.extent.align);
        let mut doc = format!("`{}` in {}: {size:#x} bytes, aligned to {align}.\n", layout.name, axis.describe(&layout.targets));
        let definition = &self.layouts.spec.definitions[&layout.name];
        if !definition.doc.is_empty() {
            let _ = write!(doc, "\n{}\n", definition.doc);
        }
        let verified = self.layouts.verifiable(id);
        let _ = match verified.is_empty() {
            true => write!(doc, "\nNo symbol data confirms this layout: {}.\n", self.layouts.reason(id)),
            false => write!(doc, "\nConfirmed by symbol data in {}.\n", axis.describe(&verified)),
        };
        for erratum in definition.errata.iter().filter(|e| !e.scope.intersection(&layout.targets).is_empty()) {
            let _ = write!(doc, "\nErratum, {}.\n", erratum.sentence(axis));
        }
        comment(&doc, "")
    }

    /// The doc comment of a member.
    pub(super) fn member_doc(&self, field: &Field, offset: u64) -> String {
        let info = &field.info;
        let mut ty = field.ctype.as_ref().map(ToString::to_string).unwrap_or("unnamed type".into());
        if let Some(bits) = field.bits {
            let last = bits.position + bits.width.max(1) - 1;
            let _ = match bits.width {
                1 => write!(ty, "`, bit `{last}"),
                _ => write!(ty, "`, bits `{} to {last}", bits.position),
            };
        }
        let mut doc = format!("`{offset:#04x}`: `{ty}`, {}, {}.", self.layouts.spec.axis.describe(&info.scope), info.known());
        if !info.doc.is_empty() {
            let _ = write!(doc, " {}", info.doc);
        }
        doc.push('\n');
        for erratum in &info.errata {
            let _ = write!(doc, "\nErratum, {erratum}.\n");
        }
        comment(&doc, "    ")
    }
}

/// Text as a doc comment. Square brackets would be taken for links.
pub(super) fn comment(text: &str, indent: &str) -> String {
    let mut result = String::new();
    for line in text.trim_end().lines() {
        let gap = if line.is_empty() { "" } else { " " };
        let _ = writeln!(result, "{indent}///{gap}{}", escape(line));
    }
    result
}

/// Outside code, brackets and angles mean something to rustdoc.
fn escape(line: &str) -> String {
    let mut code = false;
    let mut result = String::new();
    for c in line.chars() {
        code ^= c == '`';
        if !code && matches!(c, '[' | ']' | '<' | '>' | '*' | '_') {
            result.push('\\');
        }
        result.push(c);
    }
    result
}
