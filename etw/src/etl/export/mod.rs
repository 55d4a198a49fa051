//! `export`.
//!
//! Traces are grouped into parts. A part is written to a staging folder and becomes visible as a whole: its record is stored, then its files are
//! renamed. Every file in the dataset therefore belongs to a part with a record, and a run that was killed is completed by the next one.

mod files;
mod hashing;
mod part;
mod paths;
mod plan;
mod record;
mod state;
mod summary;

pub use hashing::hash_all;
pub use paths::format as format_of;
pub use plan::location;

use crate::input::{self, TRACES};
use crate::output::{Choices, Escaped, Format as Text, Output, choice};
use crate::selection::Wanted;
use etw_layouts_cli::{Error, Outcome, no_stdout};
use etw_layouts_table::write::Format;
use etw_layouts_table::{self as table, Order, Payload, Shape};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use record::Options;
use sha2::{Digest, Sha256};
use state::State;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use summary::Summary;

/// Write the events of trace files as tables: Parquet, Arrow, CSV or JSON. Exit with status 1 if there are diagnostics.
///
/// DIR becomes a dataset for DuckDB, Spark, polars, pandas and others; docs/TABLES.md describes its columns. With
/// --shape narrow, `events` has all events in one table, with their fields as JSON. With --shape typed,
/// `typed/provider=…/event=…` has a table for each event, with the fields of all its versions as columns. `stacks` has the
/// call stacks, `traces` the clock and the lost events of each trace. `manifest.json` states files, counts and diagnostics.
///
/// With --tmf, events of WPP have names, and the arguments of their messages as fields; the messages are not formatted.
///
/// Small traces are written together to the same files. Files appear only when they are complete. If the command is
/// interrupted, run it again: traces that are complete and did not change are not exported again. New traces can be
/// added to a dataset with the same options. A trace with the same bytes under another name is not exported again. The
/// rows of a trace are replaced only if its file has grown in the same session; rows of files that were removed or
/// replaced by other files stay.
///
///     etw etl export -o tables folder
///     etw etl export -o tables --shape typed --provider Process --provider DiskIo folder
///     etw etl export -o csv --format csv --from 1.5 --to 2 trace.etl
///     duckdb -c "SELECT provider, event, count(*) FROM 'tables/events/*.parquet' GROUP BY ALL"
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Trace files, or folders to search for *.etl.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the dataset to this folder.
    #[arg(short, long, value_name = "DIR", value_parser = no_stdout())]
    output: PathBuf,
    /// Format of the files.
    #[arg(long, value_parser = choice(FORMATS), default_value = "parquet")]
    format: Format,
    /// Shape of the tables.
    #[arg(long, value_parser = choice(SHAPES), default_value = "narrow")]
    shape: Shape,
    /// Order of the rows of each trace.
    #[arg(long, value_parser = choice(ORDERS), default_value = "time")]
    order: Order,
    /// Form of payloads in the narrow shape.
    #[arg(long, value_parser = choice(PAYLOADS), default_value = "json")]
    payload: Payload,
    /// Write small traces of up to MIB MiB in total to shared files; 0 writes separate files for each trace.
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = group)]
    group: u64,
    /// Use N threads; each needs up to 100 MB of memory. By default, as many as there are processors.
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,
    /// Remove the rows of files that no longer exist in the given folders or at the given paths. Without the option, they stay.
    #[arg(long)]
    prune: bool,
    /// Print the first hundred diagnostics of each kind and file with their places, instead of one line for each kind and file.
    #[arg(long)]
    diagnostics: bool,
    /// Stop at the first diagnostic, or at the first payload that is longer than its schema, and exit with status 1. Groups of traces that are not
    /// complete then are not written.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

const FORMATS: &Choices<Format> = &[
    ("parquet", "Parquet with zstd and statistics", Format::Parquet),
    ("arrow", "Arrow IPC files (Feather)", Format::Arrow),
    ("csv", "Comma-separated values, with a line of names", Format::Csv),
    ("jsonl", "One JSON object per line", Format::Jsonl),
];

const SHAPES: &Choices<Shape> =
    &[("narrow", "One table of all events", Shape::Narrow), ("typed", "A table for each provider and event", Shape::Typed)];

const ORDERS: &Choices<Order> =
    &[("time", "By time", Order::Time), ("file", "As in the trace file: buffer by buffer", Order::File)];

const PAYLOADS: &Choices<Payload> = &[
    ("json", "Decoded fields as JSON; bytes only if the payload is not decoded to its end", Payload::Json),
    ("binary", "The bytes", Payload::Binary),
    ("none", "No payloads", Payload::None),
];

fn group(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "invalid size; expected a number of MiB, such as 64".to_owned())
}

fn jobs(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|jobs| *jobs > 0).ok_or_else(|| "invalid number; expected 1 or more".to_owned())
}

/// Exports the events.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    args.wanted.check()?;
    let out = Output::new(Text::Text);
    args.wanted.schemas.load(&out)?;
    let mut state = State::open(&args.output, &args.options()?)?;
    let inputs = input::find_all(&args.files, &TRACES, &out);
    let plan = plan::plan(&inputs, &args.files, args.group.saturating_mul(1 << 20), &mut state, &out)?;
    let bar = progress(plan.bytes());
    let jobs = args.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    // A few groups share the threads.
    let threads = (jobs / plan.parts.len().max(1)).max(1);
    let is_stopped = AtomicBool::new(false);
    let part = |part: &plan::Part| match is_stopped.load(Ordering::Relaxed) {
        true => Ok(part::Done::default()),
        false => part::export(args, part, &state, threads, &bar, &is_stopped),
    };
    let pool = ThreadPoolBuilder::new().num_threads(jobs).build()?;
    let done: Vec<_> = pool.install(|| plan.parts.par_iter().map(part).collect());
    bar.finish_and_clear();
    let is_stopped = is_stopped.into_inner();
    let mut summary = Summary { unusable: plan.unusable, kept: plan.kept, is_stopped, ..Summary::default() };
    for result in done {
        match result {
            Ok(done) => {
                summary.unusable += done.unusable;
                summary.new.extend(done.record);
            }
            // No other part can be written either.
            Err(error) => return Err(format!("{}: {error}", Escaped(&args.output.display().to_string())).into()),
        }
    }
    state.settle(args.prune)?;
    state.summarize()?;
    summary.print(args, inputs.len())
}

impl Args {
    /// The options on which the rows depend.
    fn options(&self) -> Result<Options, Error> {
        let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        Ok(Options {
            tables: table::schema::VERSION,
            format: name(&self.format),
            shape: name(&self.shape),
            order: name(&self.order),
            payload: name(&self.payload),
            selection: serde_json::to_value(&self.wanted)?,
            schemas: self.wanted.schemas.contents().iter().map(|bytes| hashing::hex(&Sha256::digest(bytes))).collect(),
        })
    }

    fn table_options(&self) -> table::Options {
        table::Options { shape: self.shape, order: self.order, payload: self.payload }
    }
}

/// A progress bar for the bytes of all traces. Each trace is read twice.
fn progress(bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec}");
    ProgressBar::new(2 * bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
