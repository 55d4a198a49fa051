//! `report`.

use super::Done;
use super::symbols::StackSymbols;
use super::traces::{Files, Opened};
use crate::input::{self, Input};
use crate::output::stop::Stop;
use crate::output::{self, Choices, Output, choice};
use crate::schemas::SchemaOptions;
use etw_layouts_cli::NewFile;
use etw_layouts_report::{Options, Report};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Write a report of trace files as one web page, which opens from disk and uses no network. Exit with status 1 if there are
/// diagnostics.
///
/// The page has what the trace is, its losses, damage and schemas in words; a time line of events, processor time, disk,
/// network, .NET pauses and marks, on which a time can be selected that all tables follow; the tables of `etw etl top`; the
/// processes; a flame graph of the samples of the profiler; providers and events; and the diagnostics. A question that the
/// trace cannot answer names the events that are missing, and how to record them.
///
/// All files are one trace. The page has sums for at most 240 slots of time, the largest rows of each table, and less
/// than 2 MB. It lists what is left out.
///
///     etw etl report -o report.html trace.etl
///     etw etl report --symbol-path 'srv*https://msdl.microsoft.com/download/symbols' -o report.html trace.etl
///     etw etl report --format json -o - trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Trace files, folders to search for *.etl, or - for standard input. All are one report.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the report to this path, which must not exist; or to standard output, if it is -.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format of the report.
    #[arg(long, value_parser = choice(FORMATS), default_value = "html")]
    format: Format,
    #[command(flatten)]
    symbols: StackSymbols,
    /// Print the first hundred diagnostics of each kind and file with their places, instead of one line for each kind and file.
    #[arg(long)]
    diagnostics: bool,
    #[command(flatten)]
    pub(crate) schemas: SchemaOptions,
}

#[derive(Clone, Copy)]
enum Format {
    Html,
    Json,
}

const FORMATS: &Choices<Format> = &[
    ("html", "Web page", Format::Html),
    ("json", "Data of the page: times and amounts of time are in units of 100 ns", Format::Json),
];

impl Args {
    /// Writes a page of one file, with default options.
    pub fn page(file: PathBuf, output: PathBuf) -> Self {
        let (symbols, schemas) = (StackSymbols::default(), SchemaOptions::new(Vec::new(), Vec::new()));
        Self { files: vec![file], output, format: Format::Html, symbols, diagnostics: false, schemas }
    }

    /// The files, for a command that prints text.
    pub fn input(&self) -> input::Files {
        input::Files { files: self.files.clone(), format: output::Format::Text, diagnostics: self.diagnostics }
    }
}

/// Writes the report of all files.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let functions = args.symbols.functions(true).map_err(Stop::Input)?;
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    if files.files.is_empty() {
        return Ok(done);
    }
    let is_stdout = args.output == Path::new("-");
    let unwritable = |error: &dyn std::fmt::Display| Stop::Input(format!("{}: {error}", args.output.display()));
    let new = if is_stdout { None } else { Some(NewFile::create(&args.output).map_err(|why| unwritable(&why))?) };
    let opened = Opened::read(files.files, &args.schemas, out)?;
    done.unusable += opened.unusable;
    let report = Report::new(&opened.trace, &Options::new(functions.clone()))?;
    let text = match args.format {
        Format::Html => report.page(),
        Format::Json => report.json() + "\n",
    };
    match new {
        Some(new) => {
            new.file().write_all(text.as_bytes()).map_err(|error: io::Error| unwritable(&error))?;
            new.finish().map_err(|why| unwritable(&why))?;
        }
        None => out.write_all(text.as_bytes())?,
    }
    args.symbols.report(&functions, out);
    done.add(opened.end(out));
    Ok(done)
}
