//! `top`.

#[cfg(feature = "table")]
mod document;
mod options;
mod overview;
#[cfg(feature = "table")]
mod saved;
mod table;

use super::Done;
use super::symbols::StackSymbols;
use super::traces::Opened;
use crate::input::{self, Input};
use crate::object::object;
use crate::output::printer::none_matches;
use crate::output::stop::Stop;
use crate::output::{Escaped, Format, Output, Several};
use crate::selection::Wanted;
#[cfg(feature = "table")]
pub use document::Document;
use etw_layouts_answers::Functions;
use etw_layouts_answers::top::{Answer, Key, Note, What, top};
#[cfg(feature = "table")]
use etw_layouts_cli::no_stdout;
use etw_layouts_etl::Filter;
use etw_layouts_trace::{Trace, TraceFile};
use options::Question;
pub use options::{key, keys_of, what};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use table::Line;
pub use table::{Json, print};

/// Show where the time went: sum processor time, waits, disk, files, network, .NET and more by process, module, function, file
/// and other keys. Exit with status 1 if there are diagnostics.
///
/// All files are one trace. Rows are sorted, the largest first. Text prints 30 rows, the sum of the others and the
/// total; CSV and JSON print all rows, without --limit. The units are ms, MiB (bytes in CSV and JSON), counts and
/// percent of the total of the column by which rows are sorted: see the list of WHAT. Notes on standard error state what is missing, inferred or left out. If the trace has no
/// event that answers the question, the exit status is 2, and the message names the events and how to record them.
///
/// The options that select events apply to the event that ends an interval, and to the process and the thread of the
/// interval. For operations on files, they apply to the event that begins the operation.
///
/// cpu: samples of the profiler. `ms` is the number of samples multiplied by the interval of the timer at their time, as
/// the events of the trace state it. Process 0 is the idle process, and counted in `percent`. `busy_ms` and `busy_percent` are without
/// it: the share of a process in the time in which processors worked. Interrupts and DPCs while a processor is idle count as idle.
///
/// run, wait, ready: from context switches. `run` also has `busy_ms` and `busy_percent`. It has the intervals of each processor, which follow each other without
/// gaps. A wait ends when the thread is made ready (ReadyThread); then it is ready until it runs.
///
/// disk: `response_ms` is the time from the request to its completion, `service_ms` the part of it after the completion
/// before, and `queue_ms` the rest. `longest_ms` is the longest response.
///
/// files: the sizes are those that were requested. The time is that until OperationEnd of the same request.
///
/// gc: a pause is the time from GCSuspendEEBegin to GCRestartEEEnd of the same process and runtime.
///
///     etw etl top trace.etl
///     etw etl top cpu trace.etl
///     etw etl top cpu --by module,function --process 1234 trace.etl
///     etw etl top disk --by file --limit 10 trace.etl
///     etw etl top wait --by process,reason --format csv trace.etl
///     etw etl top gc --format json folder
///     etw etl top events -o events.parquet trace.etl
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("files", |files| files.required(false)))]
pub struct Args {
    /// What to sum. Without it, each question that the files can answer by its default keys, with 5 rows; for the others, the events that are missing.
    #[arg(value_name = "WHAT", value_parser = options::Parser)]
    what: Question,
    #[command(flatten)]
    files: input::Files,
    /// Sum by these keys, separated by commas. WHAT determines which keys are possible, and the default.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', value_parser = key())]
    by: Vec<Key>,
    /// Print at most N rows.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Write the rows to this file, which must not exist, as a table: its name ends with .parquet, .arrow, .csv or .jsonl. It has the columns of CSV.
    #[cfg(feature = "table")]
    #[arg(short, long, value_name = "FILE", value_parser = no_stdout())]
    output: Option<PathBuf>,
    #[command(flatten)]
    symbols: StackSymbols,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

impl Args {
    /// The files.
    pub fn input(&self) -> input::Files {
        let first = match &self.what {
            Question::One(_) => None,
            Question::All(file) => Some(file.clone()),
        };
        let files = first.into_iter().chain(self.files.files.iter().cloned()).collect();
        input::Files { files, ..self.files }
    }
}

/// Number of rows in text without --limit.
const LIMIT: usize = 30;

/// The number of rows to print.
pub fn limited(limit: Option<usize>, out: &Output) -> usize {
    limit.or((out.format == Format::Text).then_some(LIMIT)).unwrap_or(usize::MAX)
}

/// Prints the sums over all files.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let Question::One(what) = args.what else { return overview::run(args, inputs, out) };
    if args.input().files.is_empty() {
        return Err(Stop::Input(format!("no files for `{}`; name trace files, or folders with them", what.name())));
    }
    let keys = keys_of(what, &args.by)?;
    let functions = args.symbols.functions(has_functions(&keys)).map_err(Stop::Input)?;
    #[cfg(feature = "table")]
    let target = args.output.as_deref().map(saved::Target::create).transpose()?;
    let (mut done, opened) = Opened::of_inputs(inputs, &args.wanted.schemas, out)?;
    let Some(opened) = opened else { return Ok(done) };
    let answer = answer(what, &keys, &opened.trace, &opened.filters(&args.wanted), &functions)?;
    done.add(opened.end(out));
    #[cfg(feature = "table")]
    let is_written = target.map(|target| target.write(&answer, args.limit.unwrap_or(usize::MAX))).transpose()?.is_some();
    #[cfg(not(feature = "table"))]
    let is_written = false;
    if is_written {
        report(&answer, args.limit.unwrap_or(usize::MAX), out);
    } else {
        print_answer(&answer, args.limit, out)?;
    }
    args.symbols.report(&functions, out);
    report_nothing(&answer, &args.wanted, out);
    Ok(done)
}

impl Args {
    /// Refuses options that need a question, and a question after the files.
    fn check(&self, out: &Output) -> Result<(), Stop> {
        let what = |file: &PathBuf| if file.exists() { None } else { What::named(file.to_str()?) };
        let files = self.input().files;
        if let Some(what) = files.iter().find_map(what) {
            let others = files.iter().filter(|file| file.to_str() != Some(what.name()));
            let others: String = others.map(|file| format!(" {}", Escaped(&file.display().to_string()))).collect();
            let name = what.name();
            return Err(Stop::Input(format!("`{name}` is a question, not a file; name it first: `etw etl top {name}{others}`")));
        }
        self.symbols.functions(false).map_err(Stop::Input)?;
        if !self.by.is_empty() {
            return Err(Stop::Input("invalid --by: each question has other keys; name one, such as `etw etl top cpu`".into()));
        }
        #[cfg(feature = "table")]
        if self.output.is_some() {
            return Err(Stop::Input("invalid -o: each question has other columns; name one, such as `etw etl top cpu`".into()));
        }
        if out.format == Format::Csv {
            let why = "invalid --format csv: each question has other columns; name one, such as `etw etl top cpu`, or use --format json";
            return Err(Stop::Input(why.into()));
        }
        Ok(())
    }
}

/// Reports that a filter leaves nothing.
fn report_nothing(answer: &Answer, wanted: &Wanted, out: &Output) {
    if !answer.rows.is_empty() || wanted.is_all() {
        return;
    }
    none_matches(answer.events, wanted, out);
    if answer.duration == 0 {
        let note = "no event is in the time range of --from and --to; `etw etl stat` prints the first and the last time";
        out.say(format_args!("note: {note}"), &object! { note: note });
    }
}

/// Whether keys need the names of functions.
pub fn has_functions(keys: &[Key]) -> bool {
    keys.iter().any(|key| matches!(key, Key::Function | Key::Stack))
}

/// Answers a question about a trace.
///
/// # Errors
///
/// The trace cannot be read, or it has no event that answers the question.
pub fn answer(what: What, keys: &[Key], trace: &Trace, filters: &[Filter], functions: &Functions) -> Result<Answer, Stop> {
    let answer = top(trace, what, keys, filters, functions)?;
    if answer.relevant == 0 { Err(Stop::Input(no_answer(what, trace))) } else { Ok(answer) }
}

/// Why a trace cannot answer a question, and how to record one that can.
pub fn no_answer(what: What, trace: &Trace) -> String {
    let files: Vec<_> = trace.files().iter().map(TraceFile::name).collect();
    let (needs, record) = (what.needs(), what.record());
    format!(
        "{}: no events for `{}`, which needs {needs}; record them with `{}`",
        files.join(", "),
        what.name(),
        record.replace(", or ", "`, or `")
    )
}

fn print_answer(answer: &Answer, limit: Option<usize>, out: &mut Output) -> Result<(), Stop> {
    let limit = limited(limit, out);
    let (rows, others) = answer.rows.split_at(limit.min(answer.rows.len()));
    let heads = Head::new(answer);
    if out.format == Format::Text {
        let several =
            if heads.sessions > 1 { format!(" in {} sessions, with rows of their own", heads.sessions) } else { String::new() };
        let (what, by, seconds) = (heads.what, heads.by.join(", "), heads.seconds);
        let percent = format!("percent of {}", answer.what.measures()[answer.what.main()].name);
        let busy = if answer.what.busy().is_some() { ", with Idle; busy_percent without Idle" } else { "" };
        out.write_line(format_args!("{what} by {by}, {seconds:.3} s of trace{several}; {percent}{busy}\n"), &())?;
    }
    let mut footer = Vec::new();
    let left = answer.sum(others);
    if !others.is_empty() {
        let more = format!("in {}; --limit N prints more", Several(others.len() as u64, "more row"));
        footer.push((answer.amounts(&left).collect(), more));
    }
    let label = format!("total of {}", Several(answer.rows.len() as u64, "row"));
    footer.push((answer.amounts(&answer.totals).collect(), label));
    print(&answer.columns(), rows.iter().map(|row| answer.values(row)), &footer, out)?;
    if out.format == Format::Text {
        notes(answer, out);
    } else {
        report(answer, limit, out);
    }
    Ok(())
}

/// Reports the totals and the notes.
fn report(answer: &Answer, limit: usize, out: &Output) {
    let left_out = answer.rows.len().saturating_sub(limit);
    let heads = Head::new(answer);
    let mut label = format!("total of {}", Several(answer.rows.len() as u64, "row"));
    if left_out > 0 {
        let _ = write!(label, ", of which {left_out} are left out by --limit");
    }
    for (name, value) in &heads.total.0 {
        let _ = write!(label, ", {name} {}", table::plain(value));
    }
    let counts = object! { rows: answer.rows.len(), rows_left_out: left_out };
    out.say(label, &object! { #[serde(flatten)] heads: heads, #[serde(flatten)] counts: counts });
    notes(answer, out);
}

fn notes(answer: &Answer, out: &Output) {
    for note in &answer.notes {
        out.say(format_args!("note: {} ({})", note.note, note.count), &noted(note));
    }
}

/// A note in JSON.
#[derive(Serialize)]
struct Noted<'a> {
    note: &'a str,
    count: u64,
}

fn noted(note: &Note) -> Noted<'_> {
    Noted { note: note.note, count: note.count }
}

/// What holds for all rows.
#[derive(Serialize)]
struct Head<'a> {
    what: &'static str,
    by: Vec<&'static str>,
    /// The time that the trace covers.
    seconds: f64,
    sessions: usize,
    /// Number of events of the trace.
    events: u64,
    total: Line<'a>,
}

impl<'a> Head<'a> {
    fn new(answer: &'a Answer) -> Self {
        let columns = answer.columns();
        let names = columns.iter().filter(|column| column.unit.is_some()).map(|column| column.name);
        Self {
            what: answer.what.name(),
            by: answer.keys.iter().map(|key| key.name()).collect(),
            seconds: answer.duration as f64 / 1e7,
            sessions: answer.sessions,
            events: answer.events,
            total: Line(names.zip(answer.amounts(&answer.totals)).collect()),
        }
    }
}
