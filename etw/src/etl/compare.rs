//! `compare`.

use super::Done;
use super::comparable::Setup;
use super::symbols::StackSymbols;
use super::top::{Json, has_functions, key, keys_of, limited, no_answer, print, what};
use super::traces::{Files, Opened};
use crate::input::{self, Input, TRACES, find_all};
use crate::object::object;
use crate::output::stop::{Stop, finished};
use crate::output::{Escaped, Format, Output, Several, reported};
use crate::selection::Wanted;
use etw_layouts_answers::top::{Answer, Key, TopBuilder, Unit, What};
use etw_layouts_answers::{Functions, compare};
use etw_layouts_cli::{Error, Outcome};
use std::path::PathBuf;

/// Compare the sums of `etw etl top` in two traces, or in two groups of traces. Exit with status 1 if they differ, or if there are
/// diagnostics.
///
/// The first FILE is compared with the others; with --baseline, the baseline is compared with all FILEs. The files of one session
/// are one run, and so is each session in a folder. All amounts are per second of trace, so that runs of different
/// length can be compared, except maxima such as `longest_ms`. Rows are sorted by the difference, the largest first;
/// rows without a difference are counted, and not printed. `percent` is the difference in percent of `before`. A session
/// without events for WHAT is left out, with a note. Notes also state what can make the runs incomparable: another number of processors, another
/// interval of samples, another build of Windows or pointer size, or other kinds of events.
/// With several runs, the numbers are means, and the columns `..._deviation` are the standard deviation of the runs.
///
/// Processes are compared by image, because each run has other process IDs; several processes of an image are added.
///
///     etw etl compare before.etl after.etl
///     etw etl compare before.etl after.etl --what disk --by file --measure bytes
///     etw etl compare --baseline good.etl --baseline good2.etl slow.etl --what cpu --by module
///     etw etl compare --baseline good slow --format csv
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: input::Files,
    /// Compare with this trace file, or with those in this folder.
    #[arg(long, value_name = "PATH")]
    baseline: Vec<PathBuf>,
    /// What to sum.
    #[arg(long, value_name = "WHAT", value_parser = what(), default_value = "cpu")]
    what: What,
    /// Sum by these keys, separated by commas. WHAT determines which keys are possible, and the default.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', value_parser = key())]
    by: Vec<Key>,
    /// Compare this column of `etw etl top`, such as ms. Without it, the column by which its rows are sorted.
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// Print at most N rows; in text at most 30 without this option.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    symbols: StackSymbols,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

/// Prints the differences between runs.
///
/// # Errors
///
/// A file cannot be read, or the output cannot be written. A closed output pipe is not an error.
pub fn run(args: &Args, out: Option<&mut Output>) -> Result<Outcome, Error> {
    match out {
        Some(out) => run_on(args, out),
        None => reported(args.files.format, run_on(args, &mut Output::new(args.files.format))),
    }
}

fn run_on(args: &Args, out: &mut Output) -> Result<Outcome, Error> {
    out.is_detailed = args.files.diagnostics;
    args.wanted.load(out)?;
    let mut files = 0;
    let result = print_differences(args, &mut files, out);
    finished(result, files, out)
}

fn print_differences(args: &Args, files: &mut usize, out: &mut Output) -> Result<Done, Stop> {
    let keys = keys_of(args.what, &args.by)?;
    if keys.contains(&Key::Thread) {
        return Err(Stop::Input("threads have other IDs in each trace; remove `thread` from --by".into()));
    }
    let measure = measure(args)?;
    let (before, after) = match (&args.baseline[..], &args.files.files[..]) {
        ([], [_]) => return Err(Stop::Input("nothing to compare with; name a second trace, or use --baseline".into())),
        ([], paths) => paths.split_at(1),
        (baseline, paths) => (baseline, paths),
    };
    // Each side is searched by itself: a trace can be compared with itself.
    let [before, after] = [before, after].map(|paths| find_all(paths, &TRACES, out));
    *files = before.len() + after.len();
    let mut done = Done::default();
    let functions = args.symbols.functions(has_functions(&keys)).map_err(Stop::Input)?;
    let (before, setup_before) = answers(args, &keys, &before, &functions, &mut done, out)?;
    let (after, setup_after) = answers(args, &keys, &after, &functions, &mut done, out)?;
    args.symbols.report(&functions, out);
    // Files that cannot be read were reported.
    if done.unusable > 0 && (before.is_empty() || after.is_empty()) {
        return Ok(done);
    }
    if before.iter().chain(&after).any(|answer| answer.unknown.contains(&measure)) {
        let name = args.what.measures()[measure].name;
        return Err(Stop::Input(format!(
            "`{name}` is not known: no event of a trace states it; compare another column with --measure"
        )));
    }
    let Some(comparison) = compare(&before, &after, measure) else {
        return Err(Stop::Input("nothing to compare: a trace has no two events with different times; name longer traces".into()));
    };
    let limit = limited(args.limit, out);
    let different: Vec<_> = comparison.rows.iter().filter(|row| row.difference() != 0.0).collect();
    let left = different.len().saturating_sub(limit);
    let (kind, by) = (args.what.measures()[measure], keys.iter().map(|key| key.name()).collect::<Vec<_>>());
    let unit = match (kind.unit, kind.is_maximum) {
        (Unit::Bytes, false) if out.format == Format::Text => "MiB/s",
        (Unit::Bytes, false) => "bytes/s",
        (Unit::Milliseconds, false) => "ms/s",
        (Unit::Milliseconds, true) => "ms",
        _ => "1/s",
    };
    let normalized = match kind.is_maximum {
        true => "maxima, not divided by time".to_owned(),
        false => "per second of trace, of all processors together".to_owned(),
    };
    let heading = format!("{} of {} by {}, in {unit} ({normalized})", kind.name, args.what.name(), by.join(", "));
    let run = |answers: &[Answer]| format!("{} of {:.3} s", Several(answers.len() as u64, "run"), seconds(answers));
    let runs = format!("{} before, {} after", run(&before), run(&after));
    let found = format!("{} of {} differ", different.len(), Several(comparison.rows.len() as u64, "row"));
    let footer = [(comparison.numbers(&comparison.total), "total".to_owned())];
    setup_before.differences(&setup_after, out);
    if out.format == Format::Text {
        out.write_line(format_args!("{heading}; {runs}\n"), &())?;
    }
    let rows = different.iter().take(limit).map(|row| comparison.values(row));
    print(&comparison.columns(), rows, &footer, out)?;
    let document = object! {
        what: args.what.name(), by: by, measure: kind.name, unit: unit, normalized: normalized, runs_before: before.len(), runs_after: after.len(),
        seconds_before: seconds(&before), seconds_after: seconds(&after), total_before: Json(&comparison.value(comparison.total.before.mean)), total_after: Json(&comparison.value(comparison.total.after.mean)),
        rows: comparison.rows.len(), different: different.len(), rows_left_out: left
    };
    let left_out = if left > 0 { format!("; {left} left out, --limit N prints more") } else { String::new() };
    let amounts = if out.format == Format::Text { String::new() } else { format!("; {heading}; {runs}") };
    out.say(format_args!("{found}{left_out}{amounts}"), &document);
    if !different.is_empty() {
        done.add(Outcome::Differs);
    }
    Ok(done)
}

/// The time that runs cover together.
fn seconds(answers: &[Answer]) -> f64 {
    answers.iter().map(|answer| answer.duration).sum::<u64>() as f64 / 1e7
}

/// The index of the measure to compare.
fn measure(args: &Args) -> Result<usize, Stop> {
    let Some(name) = &args.measure else { return Ok(args.what.main()) };
    let names: Vec<_> = args.what.measures().iter().map(|measure| measure.name).collect();
    names.iter().position(|own| own == name).ok_or_else(|| {
        Stop::Input(format!("`{}` has no column `{name}` with sums; it has {}", args.what.name(), names.join(", ")))
    })
}

/// The answer for each run, and what was recorded how.
fn answers(
    args: &Args,
    keys: &[Key],
    inputs: &[Input],
    functions: &Functions,
    done: &mut Done,
    out: &Output,
) -> Result<(Vec<Answer>, Setup), Stop> {
    let files = Files::open(inputs, out);
    done.unusable += files.unusable;
    let (mut answers, mut setup, mut absent) = (Vec::new(), Setup::default(), None);
    for files in files.by_session() {
        let opened = Opened::read(files, &args.wanted.schemas, out)?;
        done.unusable += opened.unusable;
        let filters = opened.filters(&args.wanted);
        let mut builder = TopBuilder::new(&opened.trace, &filters, None);
        builder.ask(args.what, keys, functions);
        // What else was recorded; without keys, there is one sum.
        let others = What::all().filter(|what| *what != args.what);
        others.for_each(|what| builder.ask(what, &[], &Functions::default()));
        let mut all = builder.read()?;
        let answer = all.remove(0);
        done.add(opened.end(out));
        if answer.relevant == 0 {
            // Other sessions can answer the question.
            let why = no_answer(args.what, &opened.trace);
            out.say(format_args!("left out: {}", Escaped(&why)), &object! { left_out: &why });
            absent.get_or_insert(why);
            continue;
        }
        for note in &answer.notes {
            let name = opened.files.first().map_or("", |file| &file.name);
            out.note(name, &format!("{} ({})", note.note, note.count));
        }
        setup.add(&opened.trace, all.iter().chain([&answer]));
        answers.push(answer);
    }
    match absent {
        // If files were refused, their errors are the reason.
        Some(why) if answers.is_empty() && done.unusable == 0 => Err(Stop::Input(why)),
        _ => Ok((answers, setup)),
    }
}
