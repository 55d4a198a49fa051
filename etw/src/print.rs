//! Output to standard output and standard error, with escapes for hidden characters.

use crate::{Error, Format, Outcome};
use anstream::AutoStream;
use anstyle::{AnsiColor, Effects, Style};
use etw_layouts_codegen::Errors;
pub use etw_layouts_payload::{escape, is_formula, is_hidden};
use etw_layouts_project::{Refusal, Remedy, Several};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};

/// Headings.
pub const HEADING: Style = Style::new().bold();
/// Column names.
pub const COLUMNS: Style = Style::new().underline();
/// Secondary information.
pub const DIM: Style = Style::new().dimmed();
/// Equal or added.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// Removed.
pub const RED: Style = AnsiColor::Red.on_default();
/// Changed.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
/// Wrong.
pub const ALARM: Style = RED.effects(Effects::BOLD);

/// Prints a text, with its styles if standard output is a terminal. A closed pipe is not an error.
pub fn print(text: &str) -> Result<(), Error> {
    written(AutoStream::auto(io::stdout().lock()), harmless(text).as_bytes())
}

/// Writes the bytes of a file to standard output. A closed pipe is not an error.
pub fn bytes(bytes: &[u8]) -> Result<(), Error> {
    written(io::stdout().lock(), bytes)
}

fn written(mut out: impl Write, bytes: &[u8]) -> Result<(), Error> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}").into()),
        _ => Ok(()),
    }
}

/// A document as JSON in one line, with a line break at the end.
pub fn compact(document: &impl Serialize) -> Result<String, Error> {
    Ok(escaped(serde_json::to_string(document)?) + "\n")
}

/// Prints a document as JSON.
pub fn json(document: &impl Serialize) -> Result<(), Error> {
    print(&pretty(document)?)
}

/// Prints the result of a command in a format.
pub fn answer<D: Serialize>(
    format: Format,
    text: impl FnOnce() -> String,
    document: impl FnOnce() -> D,
) -> Result<Outcome, Error> {
    match format {
        Format::Text => print(&text())?,
        Format::Json => json(&document())?,
    }
    Ok(Outcome::Good)
}

/// A document as indented JSON, with a line break at the end.
pub fn pretty(document: &impl Serialize) -> Result<String, Error> {
    Ok(escaped(serde_json::to_string_pretty(document)?) + "\n")
}

/// JSON with escapes for all hidden characters in its strings; serde_json escapes only those below U+0020. Outside of strings, JSON
/// contains no hidden character except line breaks, and line breaks in strings are already escaped.
pub(crate) fn escaped(json: String) -> String {
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

/// Prints an error to standard error, and ignores that this can fail.
pub fn error(error: &Error) {
    if let Some(Several(errors)) = error.downcast_ref() {
        return errors.iter().for_each(self::error);
    }
    // Spec errors have their own heading; only a terminal gets their styles.
    let text = match (error.downcast_ref::<Errors>(), error.downcast_ref::<Refusal>()) {
        (Some(errors), _) => errors.render(true),
        (None, Some(refusal)) => refusal.message(remedy(&refusal.remedy)),
        (None, None) => error.to_string(),
    };
    let heading = if text.starts_with("error") || text.starts_with('\u{1b}') { "" } else { "error: " };
    let _ = writeln!(AutoStream::auto(io::stderr().lock()), "{heading}{}", harmless(&text));
}

/// The remedy of a refusal, with the options and commands of the program.
fn remedy(remedy: &Remedy) -> String {
    let text = match remedy {
        Remedy::Facts => "name symbol files with --symbols, or a folder of facts with --facts",
        Remedy::FactsFolder => "name a folder of facts with --facts",
        Remedy::SpecsFolder => "name a folder of your own specs with --specs",
        Remedy::Folders => {
            "use --specs DIR and --facts DIR with copies of the folders specs and facts of the source repository, or run \
             `cargo xtask import` in a clone of it"
        }
        Remedy::Build => {
            "name it with --build, in the file name (10.0.19041.329-x64.json.xz), or in a builds.tsv in the same folder \
             (columns file, build, arch)"
        }
        Remedy::NewBuild => {
            "compare the build with the file version of the kernel image (ntoskrnl.exe); correct it with --build, in builds.tsv or in the \
             file name, or confirm with --new-build that it is new"
        }
        Remedy::Architecture => "name x86, x64 or arm64 with --arch",
        Remedy::SymbolPath => "name a folder of symbol files, or srv*CACHE*https://SERVER, with --symbol-path or _NT_SYMBOL_PATH",
        Remedy::Definition => "`etw list` prints all names",
        Remedy::DefinitionOrVariable => "`etw list` prints all structures, `etw list --globals` all variables",
        Remedy::Event => "`etw list --events` prints all names",
        Remedy::InSymbols(name) => return format!("name a structure, or run `etw show {name}`"),
        Remedy::NotVariable(name) => {
            return format!("`etw list --globals` lists variables, `etw export offsets {name}` prints addresses");
        }
        Remedy::NotBuild(build) => return format!("to show a build, use --build {build}"),
        Remedy::Member(structure) => return format!("`etw show {structure}` prints all members"),
        Remedy::Embedded(structure) => return format!("`etw show {structure} -r` prints the members of embedded structures"),
        other => return other.to_string(),
    };
    text.to_owned()
}

/// A text with JSON escapes for all hidden characters except line breaks, tabs and our own styles. Names come from symbol files, which
/// are untrusted, and escape sequences control a terminal.
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

/// The length of the style that a text starts with: bold, dimmed, underlined, or a legible color.
fn style(text: &str) -> Option<usize> {
    let (parameters, _) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let legible = |parameter: &str| matches!(parameter.parse(), Ok(0u8 | 1 | 2 | 4 | 31..=36 | 91..=96));
    parameters.split(';').all(legible).then_some(parameters.len() + 3)
}

/// A cell of CSV (RFC 4180). A formula gets an apostrophe in front.
pub fn csv_cell(text: &str) -> String {
    let apostrophe = if is_formula(text.as_bytes()) { "'" } else { "" };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{apostrophe}{}\"", text.replace('"', "\"\"")),
        false => format!("{apostrophe}{text}"),
    }
}
