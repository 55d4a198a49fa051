//! Standard output, and what may reach it.

use crate::Error;
use anstream::AutoStream;
use anstyle::{AnsiColor, Effects, Style};
use etw_layouts_codegen::Errors;
use etw_layouts_project::{Refusal, Remedy, Several};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::{self, Display};
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

/// A document as JSON in one line, with a line's end.
///
/// # Errors
///
/// None that the data can cause.
pub fn compact(document: &impl Serialize) -> Result<String, Error> {
    Ok(escaped(serde_json::to_string(document)?) + "\n")
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
    Ok(escaped(serde_json::to_string_pretty(document)?) + "\n")
}

/// JSON with escapes for the hidden characters of its strings, of which serde_json escapes only those below U+0020. Outside of
/// strings JSON has no hidden character but the end of a line, and in strings that one is escaped already.
fn escaped(json: String) -> String {
    if !json.contains(|c| is_hidden(c) && c != '\n') {
        return json;
    }
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        match is_hidden(c) && c != '\n' {
            true => out += &escape(c).to_string(),
            false => out.push(c),
        }
        out
    })
}

/// Whether a character controls a terminal, changes the direction of writing, or cannot be seen.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The escape of a character in JSON: `\u` and four digits for each of its UTF-16 units.
pub fn escape(c: char) -> impl Display {
    fmt::from_fn(move |f| c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}")))
}

/// A GUID of a spec as commands print it.
pub fn plain_guid(text: &str) -> String {
    text.trim_matches(['{', '}']).to_ascii_lowercase()
}

/// A GUID as commands print it: lower case, with hyphens, without braces.
pub fn guid(number: u128) -> String {
    let digits = format!("{number:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Prints an error on standard error, where nothing can be done if it does not arrive.
pub fn error(error: &Error) {
    if let Some(Several(errors)) = error.downcast_ref() {
        return errors.iter().for_each(self::error);
    }
    // Spec errors bring their own heading, and styles that only a terminal gets.
    let text = match (error.downcast_ref::<Errors>(), error.downcast_ref::<Refusal>()) {
        (Some(errors), _) => errors.render(true),
        (None, Some(refusal)) => format!("{refusal} ({})", options(refusal.remedy)),
        (None, None) => error.to_string(),
    };
    let heading = if text.starts_with("error") || text.starts_with('\u{1b}') { "" } else { "error: " };
    let _ = writeln!(AutoStream::auto(io::stderr().lock()), "{heading}{}", harmless(&text));
}

/// The options that give an input.
fn options(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Facts => "--symbols, --facts",
        Remedy::FactsFolder => "--facts",
        Remedy::SpecsFolder => "--specs",
        Remedy::Folders => "--specs, --facts",
        Remedy::Architecture => "--arch",
        Remedy::SymbolPath => "--symbol-path, _NT_SYMBOL_PATH",
        _ => "--build",
    }
}

/// A text without hidden characters but ends of lines, tabs and our own styles. Names come from symbol files, which anybody can
/// have made, and a terminal obeys what is written to it. The escapes are those of JSON.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| is_hidden(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = style(rest);
        let (shown, after) = rest.split_at(style.unwrap_or(c.len_utf8()));
        match c {
            '\n' | '\t' => out.push(c),
            _ if style.is_none() && is_hidden(c) => out += &escape(c).to_string(),
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

/// Whether a spreadsheet would take a text for a formula, or whether it begins with the apostrophe that says that it is none. So a text
/// has one apostrophe more, or is as it was.
pub fn is_formula(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).unwrap_or_default();
    text.starts_with(['=', '+', '-', '@', '\'', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
}
