//! Doc comments: what it is, since when, where the fact comes from, errata.

use super::Emitter;
use crate::layouts::{Aggregate, Field, LayoutId};
use std::fmt::Write;

impl Emitter<'_> {
    /// The doc comment of a layout. Which kernels have it, and which confirm it, stands in `structures`.
    pub(super) fn layout_doc(&self, id: LayoutId, aggregate: &Aggregate) -> String {
        let layout = &self.layouts.layouts[id];
        let (size, align) = (aggregate.extent.size, aggregate.extent.align);
        let mut doc = format!("`{}` {}: {size:#x} bytes, aligned to {align}.\n", layout.name, self.since(&layout.targets));
        let definition = &self.layouts.spec.definitions[&layout.name];
        if !definition.doc.is_empty() {
            let _ = write!(doc, "\n{}\n", definition.doc);
        }
        for erratum in definition.errata.iter().filter(|e| !e.scope.intersection(&layout.targets).is_empty()) {
            let _ = write!(doc, "\nErratum, {}.\n", erratum.sentence(&self.layouts.spec.axis));
        }
        comment(&doc, "")
    }

    /// What is known of a member; offset, type and bits stand beside it.
    pub(super) fn member_doc(&self, field: &Field) -> String {
        let info = &field.info;
        let mut doc = format!("{}.", info.known());
        if !info.doc.is_empty() {
            let _ = write!(doc, " {}", info.doc);
        }
        for erratum in &info.errata {
            let _ = write!(doc, "\n\nErratum, {erratum}.");
        }
        doc
    }
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

/// A list in braces, in one line behind `before` if it fits, else in lines a level deeper than `indent`.
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

/// A line of names is not longer.
const WIDTH: usize = 130;

/// Text as a literal that becomes a doc comment.
pub(super) fn literal(text: &str) -> String {
    quoted(&text.lines().map(escape).collect::<Vec<_>>().join("\n"))
}

/// Text as a literal.
pub(super) fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// A line as rustdoc shows it. Code in single backticks is code, and all else is text: rustdoc would compile and run what
/// is fenced or indented as a test, and take brackets and angles for links and tags.
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

/// Text in which no letter means anything to rustdoc.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a spec says, rustdoc finds no code in it that it would run: no fence, no indentation, no code that goes on for lines.
    #[test]
    fn text_is_no_test() {
        let text = "```\npanic!();\n```\n~~~rust\n- ```\n>     quoted\n\n    indented();\n-     item\nkept `a[0]` and ``twice`` of `one\n1. \\`a`";
        let expected = [
            r"/// \`\`\`",
            "/// panic!();",
            r"/// \`\`\`",
            r"/// \~\~\~rust",
            r"/// - \`\`\`",
            r"/// \> quoted",
            "///",
            "/// indented();",
            "/// - item",
            r"/// kept `a[0]` and \`\`twice\`\` of \`one",
            r"/// 1. \\`a`",
        ];
        assert_eq!(comment(text, ""), expected.map(|line| format!("{line}\n")).concat());
    }
}
