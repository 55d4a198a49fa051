//! Doc comments, and lists in braces.

use std::fmt::Write;

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
