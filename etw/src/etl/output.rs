//! Where lines go, and how text of others gets into them.

use super::writer::Writer;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use etw_layouts_cli::{compact, is_hidden};
use serde::Serialize;
use std::fmt::{self, Display, Write as _};
use std::io::{self, IsTerminal, Write};

/// How a command prints.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// To read.
    Text,
    /// One object a line.
    Json,
    /// A table with commas between its columns. Text of a file that begins with = + - @ or an apostrophe gets one more apostrophe in
    /// front, so that no spreadsheet runs it as a formula; remove it to get the text back. Findings are text.
    Csv,
}

/// The option of a format, of a command that prints no table.
pub fn no_table(format: clap::Arg) -> clap::Arg {
    let formats = [Format::Text, Format::Json];
    let names = formats.iter().filter_map(Format::to_possible_value);
    let of = move |name: String| if name == "json" { Format::Json } else { Format::Text };
    format.value_parser(PossibleValuesParser::new(names).map(of))
}

/// The standard output, in one format; and the standard error for what is not asked for.
pub struct Output {
    pub format: Format,
    pub is_terminal: bool,
    /// Lines that are still to be written.
    lines: Vec<u8>,
    /// Who writes them, once there was a block of them.
    writer: Option<Writer>,
}

/// So many bytes are written at once.
const BLOCK: usize = 1 << 17;

impl Output {
    pub fn new(format: Format) -> Self {
        Self { format, is_terminal: io::stdout().is_terminal(), lines: Vec::new(), writer: None }
    }

    /// Lets a line be put behind those that are still to be written. A terminal gets whole lines, so that progress stands between none.
    pub fn put<T>(&mut self, line: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        let told = line(&mut self.lines);
        if self.is_terminal {
            self.write_rest()?;
        } else if self.lines.len() >= BLOCK {
            self.write_block()?;
        }
        Ok(told)
    }

    fn write_block(&mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take().or_else(|| Writer::new().ok()) else { return self.write_rest() };
        let (writer, empty) = writer.write(std::mem::take(&mut self.lines))?;
        (self.writer, self.lines) = (Some(writer), empty);
        Ok(())
    }

    fn write_rest(&mut self) -> io::Result<()> {
        let written = io::stdout().write_all(&self.lines);
        self.lines.clear();
        written
    }

    /// Prints a line: the text, or the document.
    pub fn line(&mut self, line: &(impl Serialize + Display)) -> io::Result<()> {
        let line = self.lined(line);
        self.put(|lines| lines.extend_from_slice(line.as_bytes()))
    }

    /// Prints a line to the standard error. That it cannot be printed changes nothing: the exit status tells as much.
    pub fn aside(&self, line: &(impl Serialize + Display)) {
        let _ = io::stderr().write_all(self.lined(line).as_bytes());
    }

    fn lined(&self, line: &(impl Serialize + Display)) -> String {
        match self.format {
            Format::Text | Format::Csv => format!("{line}\n"),
            // Only maps whose keys are no text cannot be written.
            Format::Json => compact(line).unwrap_or_default(),
        }
    }

    /// Reports why a file is not read.
    pub fn refused(&self, file: &str, error: &str) {
        self.aside(&Refused { file, error });
    }

    /// Tells how many files of a kind a folder has.
    pub fn searched(&self, folder: &str, kind: &str, files: usize) {
        self.aside(&Searched { folder, kind, files });
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(|lines| lines.extend_from_slice(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.end().inspect_err(|_| self.lines.clear())?;
        }
        self.write_rest()?;
        io::stdout().flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

#[derive(Serialize)]
struct Refused<'a> {
    file: &'a str,
    error: &'a str,
}

impl Display for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Escaped(self.file), Escaped(self.error))
    }
}

#[derive(Serialize)]
struct Searched<'a> {
    folder: &'a str,
    #[serde(skip)]
    kind: &'a str,
    files: usize,
}

impl Display for Searched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Escaped(self.folder), Several(self.files as u64, self.kind))
    }
}

/// Text of others, as `\u{…}` where it would do more than stand there: control characters, and those that turn the direction of
/// writing or cannot be seen.
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match is_hidden(c) {
                true => write!(f, "{}", c.escape_default())?,
                false => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// So many of what is called by a word, such as `1 event` and `1,000 events`.
pub struct Several<'a>(pub u64, pub &'a str);

impl Display for Several<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", Grouped(self.0), self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// A number, its digits in groups of three.
pub struct Grouped(pub u64);

impl Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}
