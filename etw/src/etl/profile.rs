//! `profile`.

use super::Done;
use super::symbols::{StackSymbols, path_in_store};
use super::traces::{Files, Opened};
use crate::input::{self, Input};
use crate::object::object;
use crate::output::stop::Stop;
use crate::output::{self, Choices, Escaped, Grouped, Output, Several, choice};
use crate::selection::Wanted;
use etw_layouts_answers::profile::{Counts, Format, Interval, Profile, ProfileBuilder, Subject};
use etw_layouts_cli::{NewFile, no_stdout};
use etw_layouts_etl::{Filter, Schemas};
use etw_layouts_trace::{Session, UnboundStacks};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Write a profile of trace files: where time went, or another quantity, by call stack.
///
/// By default, the profile has the samples of the timer (PerfInfo/SampleProf). With --of waits, it has the times at
/// which threads did not run, between two context switches (Thread/CSwitch), with the stack of the switch and the
/// thread that made the waiting one ready. With --of events, which --event, --provider and --weight imply, it has the
/// matching events that have a call stack.
///
/// Open the output with https://profiler.firefox.com (firefox), https://www.speedscope.app (speedscope),
/// `go tool pprof` (pprof), or a program that draws flame graphs (folded). The format firefox also has markers: garbage
/// collections and suspensions of .NET, requests to disks, waits, and the events of --mark. It has no source lines;
/// speedscope and pprof have them. Weights of waits are whole milliseconds there; the rest is added to the next wait of the thread.
///
/// The idle thread is left out. The numbers of events in the profile and of those left out are printed to standard error, with
/// the images without known functions. Memory grows with the number of samples and of different call stacks.
///
///     etw etl profile -o profile.json trace.etl
///     etw etl profile --process 1234 --from 1.5 --to 2 --format speedscope -o profile.speedscope.json trace.etl
///     etw etl profile --of waits -o waits.json trace.etl
///     etw etl profile --event DiskIo/Read --event DiskIo/Write --weight TransferSize -o disk.json trace.etl
///     etw etl profile --symbol-path 'srv*https://msdl.microsoft.com/download/symbols' -o profile.json trace.etl
///     etw etl profile --missing-symbols -o profile.json trace.etl > symbols.txt
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Trace files, folders to search for *.etl, or - for standard input. All are one profile.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the profile to this path, which must not exist.
    #[arg(short, long, value_name = "FILE", value_parser = no_stdout())]
    output: PathBuf,
    /// Format of the profile.
    #[arg(long, value_parser = choice(FORMATS), default_value = "firefox")]
    format: Format,
    /// What the samples are [default: samples; events with --weight, or if events are selected by what they are].
    #[arg(long, value_parser = choice(SUBJECTS))]
    of: Option<Of>,
    /// Weight each event by the number in this field of its payload, such as TransferSize. Events without the field are left out. A
    /// field whose name contains size, bytes or amount is shown as bytes.
    #[arg(long, value_name = "FIELD")]
    weight: Option<String>,
    /// Add the events with this name as markers, with their fields; the same forms as --event.
    #[arg(long, value_name = "NAME")]
    mark: Vec<String>,
    /// Print the PDBs that were not found for frames without a function to standard output, one path in a symbol store per line, such
    /// as ntdll.pdb/GUIDAGE/ntdll.pdb: a list for a download tool.
    #[arg(long)]
    missing_symbols: bool,
    #[command(flatten)]
    symbols: StackSymbols,
    /// Print the first hundred diagnostics of each kind and file with their places, instead of one line for each kind and file.
    #[arg(long)]
    diagnostics: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}

const FORMATS: &Choices<Format> = &[
    ("firefox", "JSON of the Firefox Profiler, with threads, times and markers", Format::Firefox),
    ("speedscope", "JSON of speedscope, with a profile for each thread", Format::Speedscope),
    ("pprof", "Message of pprof, not compressed, with sums", Format::Pprof),
    ("folded", "Folded stacks for flame graphs, with sums", Format::Folded),
];

/// What the samples of a profile are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Samples,
    Waits,
    Events,
}

const SUBJECTS: &Choices<Of> = &[
    ("samples", "Samples of the timer", Of::Samples),
    ("waits", "Times at which threads did not run, by context switches", Of::Waits),
    ("events", "Matching events that have a call stack", Of::Events),
];

/// The number of images without known functions to report.
const MODULES: usize = 10;

impl Args {
    /// The files, for a command that prints text.
    pub fn input(&self) -> input::Files {
        input::Files { files: self.files.clone(), format: output::Format::Text, diagnostics: self.diagnostics }
    }

    fn subject(&self) -> Result<Subject, String> {
        let implied = if self.weight.is_some() || self.wanted.asks_for_events() { Of::Events } else { Of::Samples };
        match (self.of.unwrap_or(implied), &self.weight) {
            (Of::Events, field) => Ok(Subject::Events(field.clone())),
            (_, Some(_)) => Err("invalid --weight: only events have fields to weight; use it with --of events".into()),
            (Of::Samples, None) => Ok(Subject::Samples),
            (Of::Waits, None) => Ok(Subject::Waits),
        }
    }
}

/// Writes the profile of all files.
pub fn run(args: &Args, inputs: &[Input], out: &mut Output) -> Result<Done, Stop> {
    let subject = args.subject().map_err(Stop::Input)?;
    let functions = args.symbols.functions(true).map_err(Stop::Input)?;
    let files = Files::open(inputs, out);
    let mut done = Done { unusable: files.unusable, ..Done::default() };
    if done.unusable > 0 || files.files.is_empty() {
        return Ok(done);
    }
    let target = args.output.display().to_string();
    let new = NewFile::create(&args.output).map_err(|why| unwritable(&target, &why))?;
    let opened = Opened::read(files.files, &args.wanted.schemas, out)?;
    done.unusable += opened.unusable;
    let (filters, trace) = (opened.filters(&args.wanted), &opened.trace);
    let marks: Vec<_> = (0..filters.len()).map(|file| marks(args, trace.session_of(file))).collect();
    let mut builder = ProfileBuilder::new(trace, subject.clone(), &functions);
    let events = trace.events();
    if !events.is_ordered()
        && let Some(file) = opened.files.first()
    {
        file.note("buffers are so far out of order that only parts are sorted: waits can be wrong".into(), out);
    }
    for event in events {
        let event = event?;
        let (filter, file) = (&filters[event.file_index()], event.file_index());
        let mut is_match = event.matches(filter);
        if is_match && filter.asks_who() && !matches!(subject, Subject::Events(_)) {
            // A context switch is about the other thread too.
            let by = event.who().by;
            is_match = filter.is_of(&[by.process], &[by.thread]);
        }
        let is_mark = marks[file].as_ref().is_some_and(|filter| event.matches(filter));
        builder.add(&event, is_match, is_mark)?;
    }
    let profile = builder.finish();
    if profile.counts.samples == 0 {
        opened.end(out);
        return Err(Stop::Input(nothing(&profile)));
    }
    let mut file = BufWriter::with_capacity(1 << 20, new.file());
    let written = profile.write(args.format, &mut file).and_then(|cut| file.flush().map(|()| cut));
    let cut = written.map_err(|error| unwritable(&target, &error))?;
    drop(file);
    new.finish().map_err(|why| unwritable(&target, &why))?;
    report(args, &profile, cut, out)?;
    args.symbols.report(&functions, out);
    done.add(opened.end(out));
    Ok(done)
}

/// The filter for markers; `None` if there are none.
fn marks(args: &Args, session: Option<&Session>) -> Option<Filter> {
    let schemas = session.map_or(Schemas::BUILT_IN, Session::schemas);
    let filter = args.mark.iter().fold(Filter::new(), |filter, name| filter.event(name));
    (!args.mark.is_empty()).then(|| filter.with_schemas(schemas))
}

/// Why a profile has no samples, and how to record them.
fn nothing(profile: &Profile) -> String {
    let (counts, subject) = (&profile.counts, &profile.subject);
    let record = |flags: &str, walk: &str| {
        format!(
            "record with `xperf -on PROC_THREAD+LOADER+{flags} -stackwalk {walk}`, `wpr -start CPU`, or without stacks \
             `logman start \"NT Kernel Logger\" -ets -p \"Windows Kernel Trace\" (process,thread,img,{}) -o trace.etl`",
            if *subject == Subject::Waits { "cswitch,dispatcher" } else { "profile" }
        )
    };
    match (subject, counts.events) {
        (Subject::Samples, 0) => {
            format!("no samples: the trace has no PerfInfo/SampleProf events; {}", record("PROFILE", "Profile"))
        }
        (Subject::Waits, 0) => {
            format!("no waits: the trace has no Thread/CSwitch events; {}", record("CSWITCH+DISPATCHER", "CSwitch+ReadyThread"))
        }
        (Subject::Events(_), 0) => "no events match; name events of the trace, which `etw etl stat --by event` prints".into(),
        (Subject::Events(_), _) if counts.without_stack == counts.events => format!(
            "none of {} has a call stack; record stacks with `xperf -stackwalk EVENT`, or enable the provider with stacks",
            Several(counts.events, "matching event")
        ),
        (Subject::Events(Some(field)), _) if counts.without_value > 0 => format!(
            "nothing in the profile: {}; use a field with a number, not `{field}`: `etw etl events --payload fields` prints the fields",
            left_out(counts).join(", ")
        ),
        _ => format!("nothing in the profile: {}; change the filter", left_out(counts).join(", ")),
    }
}

/// What is left out, with its number.
fn left_out(counts: &Counts) -> Vec<String> {
    let all = [
        (counts.filtered, "not matching"),
        (counts.idle, "of the idle thread"),
        (counts.without_thread, "of an unknown thread"),
        (counts.without_start, "whose wait began before the first context switch"),
        (counts.without_value, "without the field"),
        (counts.without_stack, "without a call stack"),
    ];
    all.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", Grouped(*count))).collect()
}

/// Reports what is in the profile, and what is not. `cut` is the number of samples whose value exceeds the format.
fn report(args: &Args, profile: &Profile, cut: u64, out: &mut Output) -> io::Result<()> {
    let (counts, note) =
        (&profile.counts, |text: String| out.say(format_args!("note: {}", Escaped(&text)), &object! { note: &text }));
    let what = match profile.subject {
        Subject::Samples => "sample",
        Subject::Waits => "wait",
        Subject::Events(_) => "event",
    };
    let of = if profile.subject == Subject::Waits { "context switch" } else { what };
    let events = match (counts.events, of) {
        (1, _) | (_, "sample" | "event") => Several(counts.events, of).to_string(),
        _ => format!("{} context switches", Grouped(counts.events)),
    };
    let left = left_out(counts);
    let left = if left.is_empty() { "nothing left out".to_owned() } else { format!("left out: {}", left.join(", ")) };
    let made = if of == what { Grouped(counts.samples).to_string() } else { Several(counts.samples, what).to_string() };
    note(format!("{made} of {events} in {}; {left}", args.output.display()));
    if counts.without_callers > 0 {
        let alone = if profile.subject == Subject::Samples { ": they have the sampled address alone" } else { "" };
        note(format!("{} without a call stack{alone}", Several(counts.without_callers, what)));
    }
    if counts.unfinished > 0 {
        note(format!("{} that did not end in the trace left out", Several(counts.unfinished, "wait")));
    }
    for (count, what) in rare(counts, cut) {
        if count > 0 {
            note(format!("{} {what}", Grouped(count)));
        }
    }
    if counts.frames.cut > 0 {
        note(format!("{} with more than 1,024 frames cut", Several(counts.frames.cut, "call stack")));
    }
    match (&profile.subject, profile.interval) {
        (Subject::Samples, Interval::Assumed) => {
            note("interval of the samples assumed to be 1 ms: the trace does not state it".into());
        }
        (Subject::Samples, Interval::Stated(interval)) => {
            note(format!("interval of the samples: {} ms", interval as f64 / 1e6));
        }
        _ => {}
    }
    let kinds = counts.frames.kinds.iter().map(|(kind, count)| format!("{} {}", Grouped(*count), kind.as_str()));
    note(format!("frames: {}", kinds.collect::<Vec<_>>().join(", ")));
    // Each PDB resolves all copies of its image.
    let mut unresolved = BTreeMap::<(Option<String>, String), u64>::new();
    for ((module, pdb), count) in &counts.frames.unresolved {
        let name = module.rsplit('\\').next().unwrap_or(module);
        let key = match pdb {
            Some(pdb) => (Some(path_in_store(pdb)), name.to_ascii_lowercase()),
            None => (None, module.to_string()),
        };
        *unresolved.entry(key).or_default() += count;
    }
    let mut most: Vec<_> = unresolved.iter().collect();
    most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for ((pdb, module), count) in most.iter().take(MODULES) {
        let pdb = pdb.as_ref().map_or("the trace does not name its PDB".to_owned(), |pdb| format!("its PDB is {pdb}"));
        note(format!("{} without a function in {module}: {pdb}", Several(**count, "frame")));
    }
    if let more @ 1.. = most.len().saturating_sub(MODULES) {
        note(format!(
            "{} with frames without a function; --missing-symbols lists their PDBs",
            Several(more as u64, "more image")
        ));
    }
    if args.missing_symbols {
        let paths: BTreeSet<_> = unresolved.keys().filter_map(|(pdb, _)| pdb.as_ref()).collect();
        for path in paths {
            out.put(|lines| lines.extend_from_slice(format!("{}\n", Escaped(path)).as_bytes()))?;
        }
    }
    Ok(())
}

/// What few traces have, with its number.
fn rare(counts: &Counts, cut: u64) -> [(u64, &'static str); 8] {
    let UnboundStacks { without_event, undefined_keys, runtime_without_event, undecoded, .. } = counts.unbound_stacks;
    [
        (cut, "with a value that the format cannot represent, cut to its largest one; use --format folded"),
        (
            counts.other_states,
            "context switches from a thread that neither waits, nor is ready, nor ended: the wait that follows is not counted",
        ),
        (counts.dropped, "states of threads, names and garbage collections dropped to limit memory"),
        (counts.frames.unresolved_others, "frames without a function in further images"),
        (without_event, "parts of call stacks without an event of their time and thread"),
        (undefined_keys, "parts of call stacks whose key the trace does not define"),
        (runtime_without_event, "call stacks of the .NET runtime without an event before them"),
        (undecoded, "events with call stacks that cannot be decoded"),
    ]
}

fn unwritable(target: &str, error: &dyn Display) -> Stop {
    Stop::Output(io::Error::other(format!("{}: {error}", Escaped(target))))
}
