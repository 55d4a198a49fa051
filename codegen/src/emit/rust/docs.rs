//! Doc comments: description, first build, source.

use super::Emitter;
use super::names::Taken;
use crate::layouts::{Aggregate, Field, LayoutId, Type};
use std::fmt::Write;

impl Emitter<'_> {
    /// The doc comment of a layout. The module `structures` states the builds that have it and that verify it.
    pub(super) fn layout_doc(&self, id: LayoutId, aggregate: &Aggregate) -> String {
        let layout = &self.layouts.layouts[id];
        let (size, align) = (aggregate.extent.size, aggregate.extent.align);
        let mut doc = format!("`{}` {}: {size:#x} bytes, aligned to {align}.\n", layout.name, self.since(&layout.targets));
        let definition = &self.layouts.spec.definitions[&layout.name];
        if !definition.doc.is_empty() {
            let _ = write!(doc, "\n{}\n", definition.doc);
        }
        comment(&doc, "")
    }
}

/// The texts about the members of a structure, each once for all layouts.
#[derive(Default)]
pub(super) struct Texts(Vec<(String, String)>);

impl Texts {
    /// Adds the texts of a layout.
    pub fn add(&mut self, aggregate: &Aggregate) {
        for field in &aggregate.fields {
            let text = text(field);
            if !text.is_empty() && !self.0.iter().any(|(_, known)| *known == text) {
                let name = field.name.as_deref().unwrap_or("unnamed");
                let mut taken = Taken::of(self.0.iter().map(|(name, _)| name.clone()));
                self.0.push((taken.numbered(name.to_owned()), text));
            }
            if let Type::Inline(inner) = field.ty.element() {
                self.add(inner);
            }
        }
    }

    /// The macro that returns a text by its name, after the source of the member.
    pub fn rules(&self) -> String {
        let rules = self
            .0
            .iter()
            .map(|(name, text)| format!("    ({name}, $known:literal) => {{ concat!($known, {}) }};\n", literal(text)));
        let rules: String = rules.collect();
        if rules.is_empty() { rules } else { format!("\nmacro_rules! text {{\n{rules}}}\n") }
    }

    /// The expression of the doc comment of a member. Offset, type and bits are stated separately.
    pub fn of(&self, field: &Field) -> String {
        let (known, text) = (field.info.known(), text(field));
        match self.0.iter().find(|(_, own)| *own == text) {
            Some((name, _)) => format!("text!({name}, {})", quoted(known)),
            None => quoted(&format!("{known}.")),
        }
    }
}

/// The text about a member that follows its source.
fn text(field: &Field) -> String {
    if field.info.doc.is_empty() { String::new() } else { format!(". {}", field.info.doc) }
}

/// Text as a doc comment.
pub(super) fn comment(text: &str, indent: &str) -> String {
    let mut result = String::new();
    for line in text.trim_end().lines().map(escape) {
        let gap = if line.is_empty() { "" } else { " " };
        let _ = writeln!(result, "{indent}///{gap}{line}");
    }
    result
}

/// A doc comment a level deeper.
pub(super) fn indented(comment: &str) -> String {
    comment.lines().map(|line| format!("    {line}\n")).collect()
}

/// A list in braces: on one line after `before` if it fits, otherwise on lines that are indented by one more level.
pub(super) fn braced(before: &str, items: &[String], indent: usize) -> String {
    let one = format!("{:indent$}{before}{{{}}}", "", items.join(", "));
    if one.len() < WIDTH {
        return one;
    }
    let mut lines = format!("{:indent$}{before}{{", "");
    let mut column = WIDTH;
    for item in items {
        let (start, width) = match column + item.len() + 2 > WIDTH {
            true => (format!("\n{:1$}", "", indent + 4), indent + 4),
            false => (" ".to_owned(), column + 1),
        };
        lines += &format!("{start}{item},");
        column = width + item.len() + 1;
    }
    lines + &format!("\n{:indent$}}}", "")
}

/// Maximum length of a line of names.
const WIDTH: usize = 130;

/// Text as a literal that becomes a doc comment.
pub(super) fn literal(text: &str) -> String {
    quoted(&text.lines().map(escape).collect::<Vec<_>>().join("\n"))
}

/// Text as a literal.
pub(super) fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Escapes a line for rustdoc. Only text in single backticks stays code. Otherwise rustdoc would compile and run fenced or
/// indented text as a test, and read brackets as links or tags.
fn escape(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut result, mut rest) = (String::new(), line.as_str());
    while let Some(start) = rest.find('`') {
        let (before, ticks) = rest.split_at(start);
        result += &plain(before);
        let count = ticks.bytes().take_while(|&byte| byte == b'`').count();
        let code = ticks[1..].split_once('`').filter(|(code, after)| !code.is_empty() && !after.starts_with('`'));
        rest = match code {
            Some((code, after)) => {
                result += &format!("`{code}`");
                after
            }
            None => {
                result += &"\\`".repeat(count);
                &ticks[count..]
            }
        };
    }
    result + &plain(rest)
}

/// Escapes all characters that have a meaning for rustdoc.
fn plain(text: &str) -> String {
    let mut result = String::new();
    for c in text.chars() {
        if matches!(c, '[' | ']' | '<' | '>' | '*' | '_' | '~' | '\\') {
            result.push('\\');
        }
        result.push(c);
    }
    result
}
