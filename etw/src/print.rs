//! Standard output, and what may reach it.

use crate::Error;
use anstream::AutoStream;
use anstyle::{AnsiColor, Effects, Style};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};

/// What a text is about.
pub const HEADING: Style = Style::new().bold();
/// The names of columns.
pub const COLUMNS: Style = Style::new().underline();
/// What matters less.
pub const DIM: Style = Style::new().dimmed();
/// Agrees, or is new.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// Is gone.
pub const RED: Style = AnsiColor::Red.on_default();
/// Is another than before.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
/// Is wrong.
pub const ALARM: Style = RED.effects(Effects::BOLD);

/// Prints a text, with its styles if standard output is a terminal. If nobody reads it any more, that is no error.
///
/// # Errors
///
/// Standard output cannot be written, as when the disk is full.
pub fn print(text: &str) -> Result<(), Error> {
    let mut out = AutoStream::auto(io::stdout().lock());
    match out.write_all(harmless(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}").into()),
        _ => Ok(()),
    }
}

/// Prints a document as JSON.
///
/// # Errors
///
/// As [`print()`].
pub fn json(document: &impl Serialize) -> Result<(), Error> {
    print(&pretty(document)?)
}

/// A document as JSON, with a line's end.
///
/// # Errors
///
/// None that the data can cause.
pub fn pretty(document: &impl Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// Prints an error on standard error, where nothing can be done if it does not arrive.
pub fn error(error: &Error) {
    // Spec errors bring their own heading.
    let text = error.to_string();
    let heading = if text.starts_with("error") || text.starts_with('\u{1b}') { "" } else { "error: " };
    let _ = writeln!(AutoStream::auto(io::stderr().lock()), "{heading}{}", harmless(&text));
}

/// A text without control characters but ends of lines and our own styles. Names come from symbol files, which anybody can
/// have made, and a terminal obeys what is written to it. The escapes are those of JSON.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control() && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = style(rest);
        let (shown, after) = rest.split_at(style.unwrap_or(c.len_utf8()));
        match c {
            '\n' | '\t' => out.push(c),
            _ if style.is_none() && c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            _ => out += shown,
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// The bytes of the style that a text starts with: bold, dimmed, underlined, or in a colour that can be read.
fn style(text: &str) -> Option<usize> {
    let (parameters, _) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let legible = |parameter: &str| matches!(parameter.parse(), Ok(0u8 | 1 | 2 | 4 | 31..=36 | 91..=96));
    parameters.split(';').all(legible).then_some(parameters.len() + 3)
}
