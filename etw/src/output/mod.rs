//! Output of the commands on traces and dumps: tables, JSON and CSV, progress and diagnostics.

pub mod file_progress;
pub mod printer;
pub mod stop;
pub mod tally;
mod writer;

use crate::object::object;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use etw_layouts_cli::{Error, Outcome, Reported, compact};
pub use etw_layouts_etl::text::{Escaped, Grouped, Several};
use etw_layouts_lines::Refusals;
pub use etw_layouts_lines::{Format, column, document, kind, line, stack};
use serde::Serialize;
use std::cell::RefCell;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use writer::Writer;

/// The values of an option: names with their help and meaning.
pub type Choices<T> = [(&'static str, &'static str, T)];

/// Parses one of the values of an option.
pub fn choice<T: Copy + Send + Sync + 'static>(choices: &'static Choices<T>) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|text| {
        let found = choices.iter().find(|(name, ..)| *name == text);
        found.map(|(.., value)| *value).ok_or("unknown value")
    })
}

/// The --format option of a command that does not print a table.
pub fn no_table(format: clap::Arg) -> clap::Arg {
    let formats = [Format::Text, Format::Json];
    let names = formats.iter().filter_map(Format::to_possible_value);
    let of = move |name: String| if name == "json" { Format::Json } else { Format::Text };
    format.value_parser(PossibleValuesParser::new(names).map(of))
}

/// Standard output in one format, and standard error for diagnostics.
pub struct Output {
    pub format: Format,
    /// Whether each diagnostic of a file is printed with its place, instead of one line for each kind.
    pub is_detailed: bool,
    pub is_terminal: bool,
    /// Pending output.
    lines: Vec<u8>,
    /// The writer, created for the first full block.
    writer: Option<Writer>,
    /// The receiver of the lines, instead of standard output. The lines for standard error are then kept.
    receiver: Option<Box<dyn Write>>,
    kept: RefCell<String>,
    /// Ends the reading of trace files early.
    pub interrupt: Option<Interrupt>,
}

/// Called with the number of bytes of each read from a trace file. An error ends the command, as an error of the file does.
#[derive(Clone)]
pub struct Interrupt(pub Arc<dyn Fn(usize) -> io::Result<()> + Send + Sync>);

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

/// The block size in bytes.
const BLOCK: usize = 1 << 17;

/// Prints the error of a command as JSON, if that is the output format.
pub fn reported(format: Format, result: Result<Outcome, Error>) -> Result<Outcome, Error> {
    result.map_err(|error| match format {
        Format::Json => {
            let error = error.to_string();
            Output::new(format).say(&error, &object! { error: &error });
            Reported.into()
        }
        Format::Text | Format::Csv => error,
    })
}

impl Output {
    pub fn new(format: Format) -> Self {
        let (is_terminal, kept) = (io::stdout().is_terminal(), RefCell::default());
        let (writer, receiver, interrupt) = (None, None, None);
        Self { format, is_detailed: false, is_terminal, lines: Vec::new(), writer, receiver, kept, interrupt }
    }

    /// Writes lines to a receiver instead of standard output, and keeps those for standard error in memory.
    pub fn to(receiver: Box<dyn Write>, format: Format) -> Self {
        let mut out = Self::new(format);
        (out.is_terminal, out.receiver) = (false, Some(receiver));
        out
    }

    /// The lines for standard error.
    pub fn into_kept(self) -> String {
        self.kept.take()
    }

    /// Appends a line to the pending output. A terminal gets whole lines, so that the progress bar never interrupts one.
    pub fn put<T>(&mut self, line: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        let result = line(&mut self.lines);
        if self.is_terminal {
            self.write_rest()?;
        } else if self.lines.len() >= BLOCK {
            self.write_block()?;
        }
        Ok(result)
    }

    /// Appends whole lines to the pending output.
    pub fn put_all(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        if self.lines.is_empty() {
            std::mem::swap(&mut self.lines, lines);
        }
        self.put(|out| out.append(lines))
    }

    fn write_block(&mut self) -> io::Result<()> {
        if self.receiver.is_some() {
            return self.write_rest();
        }
        let Some(writer) = self.writer.take().or_else(|| Writer::new().ok()) else { return self.write_rest() };
        let (writer, empty) = writer.write(std::mem::take(&mut self.lines))?;
        (self.writer, self.lines) = (Some(writer), empty);
        Ok(())
    }

    fn write_rest(&mut self) -> io::Result<()> {
        let written = match &mut self.receiver {
            Some(receiver) => receiver.write_all(&self.lines),
            None => io::stdout().write_all(&self.lines),
        };
        self.lines.clear();
        written
    }

    /// Prints a line as text or JSON.
    pub fn line(&mut self, line: &(impl Serialize + Display)) -> io::Result<()> {
        self.write_line(line, line)
    }

    /// Prints a line: a text, or a document as JSON.
    pub fn write_line(&mut self, text: impl Display, document: &impl Serialize) -> io::Result<()> {
        let line = self.lined(text, document);
        self.put(|lines| lines.extend_from_slice(line.as_bytes()))
    }

    /// Prints a line to standard error.
    pub fn aside(&self, line: &(impl Serialize + Display)) {
        self.say(line, line);
    }

    /// Prints a line to standard error: a text, or a document as JSON. Failures are ignored, because the exit status reports the problem
    /// too.
    pub fn say(&self, text: impl Display, document: &impl Serialize) {
        let line = self.lined(text, document);
        match self.receiver {
            Some(_) => self.kept.borrow_mut().push_str(&line),
            None => _ = io::stderr().write_all(line.as_bytes()),
        }
    }

    fn lined(&self, text: impl Display, document: &impl Serialize) -> String {
        match self.format {
            Format::Text | Format::Csv => format!("{text}\n"),
            // Serialization fails only for maps whose keys are not strings.
            Format::Json => compact(document).unwrap_or_default(),
        }
    }

    /// Reports why a file is not read.
    pub fn refused(&self, file: &str, error: &str) {
        let name = if file == "-" { "standard input" } else { file };
        self.say(format_args!("{}: {}", Escaped(name), Escaped(error)), &object! { file: file, error: error });
    }

    /// Prints a note on a file.
    pub fn note(&self, file: &str, note: &str) {
        self.say(format_args!("{}: note: {}", Escaped(file), Escaped(note)), &object! { file: file, note: note });
    }

    /// Reports the number of files found in a folder.
    pub fn searched(&self, folder: &str, kind: &str, files: usize) {
        let count = Several(files as u64, kind);
        self.say(format_args!("{}: {count}", Escaped(folder)), &object! { folder: folder, files: files });
    }
}

impl Refusals for Output {
    fn refused(&self, file: &str, error: &str) {
        Self::refused(self, file, error);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(|lines| lines.extend_from_slice(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.receiver.is_some() {
            return self.write_rest();
        }
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
